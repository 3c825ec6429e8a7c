#include "engine/text/unigram_model.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/text/byte_token.h"
#include "engine/text/utf8.h"

namespace winnow {
namespace {

constexpr double kUnknownPenalty = 10;

}  // namespace

UnigramModel::UnigramModel(const TokenizerFile& file) : trie_(file.vocabulary, file.path) {
  const auto damaged = [&](const char* reason) { return Exception(ErrorCode::kDamagedFile, file.path, reason); };
  if (file.vocabulary.empty() || file.scores.size() != file.vocabulary.size()) throw damaged("has another number of scores than of tokens");
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
    scores_[slot] = file.scores[i];
  }
  unknown_score_ = *std::min_element(file.scores.begin(), file.scores.end()) - kUnknownPenalty;
  const auto unknown = find(file.unknown_token);
  if (!unknown) throw damaged("unk_id is not in the vocabulary");
  unknown_ = static_cast<std::int32_t>(*unknown);
  bytes_.fill(kNone);
  for (std::size_t b = 0; file.byte_fallback && b < bytes_.size(); ++b) {
    if (const auto id = find(byte_token_name(static_cast<unsigned char>(b)))) bytes_[b] = static_cast<std::int32_t>(*id);
  }
}

std::optional<std::int64_t> UnigramModel::find(std::string_view token_text) const {
  const auto found = vocabulary_.find(token_text);
  if (found == vocabulary_.end()) return std::nullopt;
  return found->second;
}

void UnigramModel::find_best(std::string_view word) {
  best_.assign(word.size() + 1, Best{});
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t character = utf8::length_of_lead(static_cast<unsigned char>(word[at]));
    const double so_far = best_[at].score;
    const auto offer = [&](std::size_t bytes, std::int32_t id, double score) {
      Best& best = best_[at + bytes];
      if (best.begin != kNone && so_far + score <= best.score) return;
      best = {so_far + score, static_cast<std::int32_t>(at), id};
    };
    bool is_token = false;
    trie_.for_each_prefix(word.substr(at), [&](std::size_t bytes, std::int32_t id) {
      offer(bytes, id, scores_[static_cast<std::size_t>(id)]);
      is_token = is_token || bytes == character;
    });
    if (!is_token) offer(character, unknown_, unknown_score_);
    at += character;
  }
}

void UnigramModel::append_unknown(std::string_view text, std::vector<std::int64_t>& ids) const {
  if (const auto whole = find(text)) {  // a token that is worse than so many unknown characters
    ids.push_back(*whole);
    return;
  }
  const auto id_of = [&](char byte) { return bytes_[static_cast<unsigned char>(byte)]; };
  if (std::any_of(text.begin(), text.end(), [&](char byte) { return id_of(byte) == kNone; })) {
    ids.push_back(unknown_);
    return;
  }
  for (const char byte : text) ids.push_back(id_of(byte));
}

void UnigramModel::encode_word(std::string_view word, std::vector<std::int64_t>& ids) {
  find_best(word);
  const auto best_at = [&](std::int32_t end) -> const Best& { return best_[static_cast<std::size_t>(end)]; };
  ends_.clear();
  for (auto end = static_cast<std::int32_t>(word.size()); end > 0; end = best_at(end).begin) ends_.push_back(end);
  std::size_t unknown_bytes = 0;  // directly before the token that is looked at
  for (auto end = ends_.rbegin(); end != ends_.rend(); ++end) {
    const Best& token = best_at(*end);
    if (token.id == unknown_) {
      unknown_bytes += static_cast<std::size_t>(*end - token.begin);
      if (end + 1 != ends_.rend() && best_at(*(end + 1)).id == unknown_) continue;
      append_unknown(word.substr(static_cast<std::size_t>(*end) - unknown_bytes, unknown_bytes), ids);
      unknown_bytes = 0;
    } else {
      ids.push_back(token.id);
    }
  }
}

void UnigramModel::encode_units(std::string_view word, std::vector<std::int64_t>& ids) {
  for (std::size_t at = 0; at < word.size();) {
    const std::string_view character = word.substr(at, utf8::length_of_lead(static_cast<unsigned char>(word[at])));
    append_unknown(character, ids);
    at += character.size();
  }
}

}  // namespace winnow
