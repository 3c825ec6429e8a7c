#include "engine/text/spm_model.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/text/byte_alphabet.h"
#include "engine/text/utf8.h"

namespace winnow {

SpmModel::SpmModel(const TokenizerFile& file) {
  const auto damaged = [&](const char* reason) { return Exception(ErrorCode::kDamagedFile, file.path, reason); };
  if (file.scores.size() != file.vocabulary.size()) throw damaged("has another number of scores than of tokens");
  for (const auto& [text, id] : file.vocabulary) largest_id_ = std::max(largest_id_, id);
  scores_.resize(static_cast<std::size_t>(largest_id_ + 1));
  std::vector<bool> taken(scores_.size());
  vocabulary_.reserve(file.vocabulary.size());
  for (std::size_t i = 0; i < file.vocabulary.size(); ++i) {
    const auto& [text, id] = file.vocabulary[i];
    const auto slot = static_cast<std::size_t>(id);
    if (taken[slot]) throw damaged("two tokens have one id");
    taken[slot] = true;
    if (!vocabulary_.emplace(text, id).second) throw damaged("a token occurs twice");
    if (!std::isfinite(file.scores[i])) throw damaged("a token's score is not a number");
    scores_[slot] = static_cast<float>(file.scores[i]);
    longest_token_ = std::max(longest_token_, text.size());
  }
  bytes_.fill(kNone);
  bool all_bytes = true;
  for (const auto& [text, id] : file.unmerged) {
    if (const auto byte = byte_of_token_name(text)) bytes_[*byte] = static_cast<std::int32_t>(id);
  }
  for (const std::int32_t id : bytes_) all_bytes = all_bytes && id != kNone;
  for (const AddedToken& token : file.added_tokens) {
    if (!file.unknown_token.empty() && token.content == file.unknown_token) unknown_ = static_cast<std::int32_t>(token.id);
  }
  if (!all_bytes && unknown_ == kNone) throw damaged("has neither tokens for all bytes nor one for what is unknown");
}

std::optional<std::int64_t> SpmModel::find(std::string_view token_text) const {
  const auto found = vocabulary_.find(token_text);
  if (found == vocabulary_.end()) return std::nullopt;
  return found->second;
}

void SpmModel::take_apart(std::string_view word) {
  symbols_.clear();
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t bytes = utf8::length_of_lead(static_cast<unsigned char>(word[at]));
    const auto index = static_cast<std::int32_t>(symbols_.size());
    const auto id = find(word.substr(at, bytes));
    symbols_.push_back({static_cast<std::int32_t>(at), static_cast<std::int32_t>(bytes), index - 1, index + 1,
                        id ? static_cast<std::int32_t>(*id) : kNone});
    at += bytes;
  }
  if (!symbols_.empty()) symbols_.back().next = kNone;
}

void SpmModel::append_ids(std::string_view word, std::vector<std::int64_t>& ids) const {
  bool unknown_before = false;
  for (const Symbol& symbol : symbols_) {
    if (symbol.bytes == 0) continue;
    bool unknown = false;
    if (symbol.id != kNone) {
      ids.push_back(symbol.id);
    } else {
      const std::string_view text = word.substr(static_cast<std::size_t>(symbol.begin), static_cast<std::size_t>(symbol.bytes));
      const auto byte_id = [&](char byte) { return bytes_[static_cast<unsigned char>(byte)]; };
      unknown = std::any_of(text.begin(), text.end(), [&](char byte) { return byte_id(byte) == kNone; });
      if (!unknown) {
        for (const char byte : text) ids.push_back(byte_id(byte));
      } else if (!unknown_before) {
        ids.push_back(unknown_);
      }
    }
    unknown_before = unknown;
  }
}

void SpmModel::encode_units(std::string_view word, std::vector<std::int64_t>& ids) {
  take_apart(word);
  append_ids(word, ids);
}

void SpmModel::encode_word(std::string_view word, std::vector<std::int64_t>& ids) {
  take_apart(word);
  queue_.clear();
  const auto at = [&](std::int32_t i) -> Symbol& { return symbols_[static_cast<std::size_t>(i)]; };
  const auto later = [](const Candidate& a, const Candidate& b) { return a.score != b.score ? a.score < b.score : a.left > b.left; };
  const auto offer = [&](std::int32_t left) {
    if (left == kNone || at(left).next == kNone) return false;
    const std::int32_t bytes = at(left).bytes + at(at(left).next).bytes;
    if (static_cast<std::size_t>(bytes) > longest_token_) return false;
    const auto id = find(word.substr(static_cast<std::size_t>(at(left).begin), static_cast<std::size_t>(bytes)));
    if (!id) return false;
    queue_.push_back({scores_[static_cast<std::size_t>(*id)], left, bytes, static_cast<std::int32_t>(*id)});
    return true;
  };
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(symbols_.size()); ++i) offer(i);
  std::make_heap(queue_.begin(), queue_.end(), later);
  while (!queue_.empty()) {
    std::pop_heap(queue_.begin(), queue_.end(), later);
    const Candidate top = queue_.back();
    queue_.pop_back();
    Symbol& left = at(top.left);
    // Symbols only grow: another length means that one of the two has been merged since.
    if (left.bytes == 0 || left.next == kNone || left.bytes + at(left.next).bytes != top.bytes) continue;
    Symbol& right = at(left.next);
    left.bytes = top.bytes;
    left.id = top.id;
    left.next = right.next;
    right.bytes = 0;
    if (left.next != kNone) at(left.next).previous = top.left;
    if (offer(left.previous)) std::push_heap(queue_.begin(), queue_.end(), later);
    if (offer(top.left)) std::push_heap(queue_.begin(), queue_.end(), later);
  }
  append_ids(word, ids);
}

}  // namespace winnow
