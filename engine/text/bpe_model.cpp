#include "engine/text/bpe_model.h"

#include <algorithm>
#include <bit>

#include "engine/text/byte_alphabet.h"
#include "engine/text/utf8.h"

namespace winnow {

BpeModel::BpeModel(const TokenizerFile& file, TokenAlphabet alphabet)
    : alphabet_(alphabet), fuse_unknown_(file.fuse_unknown), ignore_merges_(file.ignore_merges) {
  vocabulary_.reserve(file.vocabulary.size());
  for (const auto& [text, id] : file.vocabulary) largest_id_ = std::max(largest_id_, id);
  std::vector<bool> taken(static_cast<std::size_t>(largest_id_ + 1));
  for (const auto& [text, id] : file.vocabulary) {
    if (taken[static_cast<std::size_t>(id)]) throw Exception(ErrorCode::kDamagedFile, file.path, "two tokens have one id");
    taken[static_cast<std::size_t>(id)] = true;
    if (!vocabulary_.emplace(text, id).second) throw Exception(ErrorCode::kDamagedFile, file.path, "a token occurs twice");
  }
  if (!file.unknown_token.empty()) {
    const auto unknown = find(file.unknown_token);
    if (!unknown) throw Exception(ErrorCode::kDamagedFile, file.path, "unk_token is not in the vocabulary");
    unknown_ = static_cast<std::int32_t>(*unknown);
  }
  build_merges(file);
  if (alphabet_ == TokenAlphabet::kBytes) {
    build_byte_units(file);
  } else {
    build_character_units(file);
  }
}

void BpeModel::build_merges(const TokenizerFile& file) {
  const std::size_t slots = std::bit_ceil(std::max<std::size_t>(16, file.merges.size() * 2));
  merges_.resize(slots);
  merge_shift_ = 64 - std::countr_zero(slots);
  std::uint32_t rank = 0;
  std::string joined;
  for (const auto& [first, second] : file.merges) {
    const auto a = vocabulary_.find(first);
    const auto b = vocabulary_.find(second);
    joined.assign(first).append(second);
    const auto c = vocabulary_.find(joined);
    if (a == vocabulary_.end() || b == vocabulary_.end() || c == vocabulary_.end()) {
      throw Exception(ErrorCode::kDamagedFile, file.path, "merge " + std::to_string(rank) + " uses a token that is not in the vocabulary");
    }
    add_merge(pair_of(static_cast<std::int32_t>(a->second), static_cast<std::int32_t>(b->second)), rank++,
              static_cast<std::int32_t>(c->second));
  }
}

void BpeModel::build_byte_units(const TokenizerFile& file) {
  for (std::size_t b = 0; b < units_.size(); ++b) {
    const std::string& text = ByteAlphabet::instance().text_of(static_cast<unsigned char>(b));
    auto& unit = units_[b];
    if (const auto id = find(text)) {
      unit.push_back(static_cast<std::int32_t>(*id));
      unit_kinds_[b] = Unit::kToken;
      continue;
    }
    if (file.byte_fallback) {
      // Like the reference: the bytes of the alphabet's character, not the byte itself; all of them or none.
      for (const char c : text) {
        const auto id = find(byte_token_name(static_cast<unsigned char>(c)));
        if (!id) {
          unit.clear();
          break;
        }
        unit.push_back(static_cast<std::int32_t>(*id));
      }
    }
    unit_kinds_[b] = !unit.empty() ? Unit::kBytes : unknown_ ? Unit::kUnknown : Unit::kNothing;
  }
}

void BpeModel::build_character_units(const TokenizerFile& file) {
  if (!file.byte_fallback) return;
  for (std::size_t b = 0; b < units_.size(); ++b) {
    if (const auto id = find(byte_token_name(static_cast<unsigned char>(b)))) units_[b].push_back(static_cast<std::int32_t>(*id));
  }
}

void BpeModel::add_merge(std::uint64_t pair, std::uint32_t rank, std::int32_t merged) {
  for (std::size_t slot = slot_of(pair);; slot = (slot + 1) & (merges_.size() - 1)) {
    if (merges_[slot].pair == kNoPair || merges_[slot].pair == pair) {  // a pair that occurs again gets its last rank, as in the reference
      merges_[slot] = {pair, rank, merged};
      return;
    }
  }
}

const BpeModel::Merge* BpeModel::find_merge(std::int32_t first, std::int32_t second) const {
  const std::uint64_t pair = pair_of(first, second);
  for (std::size_t slot = slot_of(pair);; slot = (slot + 1) & (merges_.size() - 1)) {
    if (merges_[slot].pair == pair) return &merges_[slot];
    if (merges_[slot].pair == kNoPair) return nullptr;
  }
}

std::optional<std::int64_t> BpeModel::find(std::string_view token_text) const {
  const auto found = vocabulary_.find(token_text);
  if (found == vocabulary_.end()) return std::nullopt;
  return found->second;
}

void BpeModel::flush_unknown() {
  if (unknown_waits_) symbols_.push_back({*unknown_, -1, -1});
  unknown_waits_ = false;
}

void BpeModel::add_token_unit(std::int32_t id) {
  flush_unknown();
  symbols_.push_back({id, -1, -1});
}

void BpeModel::add_byte_units(std::span<const std::int32_t> ids) {
  for (const std::int32_t id : ids) symbols_.push_back({id, -1, -1});
}

void BpeModel::add_unknown() {
  if (!fuse_unknown_) flush_unknown();
  unknown_waits_ = unknown_.has_value();
}

void BpeModel::take_apart(std::string_view word) {
  symbols_.clear();
  unknown_waits_ = false;
  if (alphabet_ == TokenAlphabet::kCharacters) {
    take_apart_into_characters(word);
  } else {
    for (const char byte : word) {
      const auto b = static_cast<unsigned char>(byte);
      switch (unit_kinds_[b]) {
        case Unit::kToken: add_token_unit(units_[b].front()); break;
        case Unit::kBytes: add_byte_units(units_[b]); break;
        case Unit::kUnknown: add_unknown(); break;
        case Unit::kNothing: break;
      }
    }
  }
  flush_unknown();
}

void BpeModel::take_apart_into_characters(std::string_view word) {
  for (std::size_t at = 0; at < word.size();) {
    const std::string_view character = word.substr(at, utf8::length_of_lead(static_cast<unsigned char>(word[at])));
    at += character.size();
    const auto byte_units = [&](char byte) -> const std::vector<std::int32_t>& { return units_[static_cast<unsigned char>(byte)]; };
    if (const auto id = find(character)) {
      add_token_unit(static_cast<std::int32_t>(*id));
    } else if (std::none_of(character.begin(), character.end(), [&](char byte) { return byte_units(byte).empty(); })) {
      for (const char byte : character) add_byte_units(byte_units(byte));
    } else {
      add_unknown();
    }
  }
}

void BpeModel::encode_units(std::string_view word, std::vector<std::int64_t>& ids) {
  take_apart(word);
  for (const Symbol& symbol : symbols_) ids.push_back(symbol.id);
}

void BpeModel::encode_word(std::string_view word, std::vector<std::int64_t>& ids) {
  if (ignore_merges_) {
    const auto whole = alphabet_ == TokenAlphabet::kBytes ? find(ByteAlphabet::instance().text_of(word)) : find(word);
    if (whole) {
      ids.push_back(*whole);
      return;
    }
  }
  take_apart(word);
  auto& symbols = symbols_;
  auto& queue = queue_;
  queue.clear();
  const auto count = static_cast<std::int32_t>(symbols.size());
  const auto at = [&](std::int32_t i) -> Symbol& { return symbols[static_cast<std::size_t>(i)]; };
  // The smallest rank first; of equal ranks the leftmost.
  const auto later = [](const Candidate& a, const Candidate& b) { return a.rank != b.rank ? a.rank > b.rank : a.position > b.position; };
  for (std::int32_t i = 0; i < count; ++i) {
    at(i).previous = i - 1;
    at(i).next = i + 1 < count ? i + 1 : -1;
    if (i + 1 < count) {
      if (const Merge* merge = find_merge(at(i).id, at(i + 1).id)) queue.push_back({merge->rank, i, merge->merged});
    }
  }
  std::make_heap(queue.begin(), queue.end(), later);
  const auto offer = [&](std::int32_t left, std::int32_t right) {
    if (const Merge* merge = find_merge(at(left).id, at(right).id)) {
      queue.push_back({merge->rank, left, merge->merged});
      std::push_heap(queue.begin(), queue.end(), later);
    }
  };
  while (!queue.empty()) {
    std::pop_heap(queue.begin(), queue.end(), later);
    const Candidate top = queue.back();
    queue.pop_back();
    Symbol& left = at(top.position);
    if (left.id < 0 || left.next < 0) continue;
    Symbol& right = at(left.next);
    // The entry is stale if one of its two symbols has been merged since.
    const Merge* merge = find_merge(left.id, right.id);
    if (merge == nullptr || merge->merged != top.merged) continue;
    left.id = top.merged;
    right.id = -1;
    left.next = right.next;
    if (left.next >= 0) at(left.next).previous = top.position;
    if (left.previous >= 0) offer(left.previous, top.position);
    if (left.next >= 0) offer(top.position, left.next);
  }
  for (const Symbol& symbol : symbols) {
    if (symbol.id >= 0) ids.push_back(symbol.id);
  }
}

}  // namespace winnow
