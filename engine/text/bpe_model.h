// Byte-level byte pair encoding of one word: bytes in, token ids out.
//
// Used by the tokenizer. Built once from a TokenizerFile; encode_word() is const but uses scratch memory of the caller, so that one model
// serves any thread. A word of n bytes costs O(n log n).
// Errors of the constructor: Exception kDamagedFile (duplicate tokens or ids, merges of or into unknown tokens).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/text/tokenizer_file.h"

namespace winnow {

struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

class BpeModel {
 public:
  // Reusable memory of encode_word().
  struct Scratch {
    struct Symbol {
      std::int32_t id = 0;  // -1: merged into the symbol before it
      std::int32_t previous = -1;
      std::int32_t next = -1;
    };
    struct Candidate {
      std::uint32_t rank = 0;
      std::int32_t position = 0;
      std::int32_t merged = 0;
    };
    std::vector<Symbol> symbols;
    std::vector<Candidate> queue;
  };

  explicit BpeModel(const TokenizerFile& file);

  // Appends the ids of a word (at most 2^31 - 1 bytes; the tokenizer cuts at 64 KiB).
  void encode_word(std::string_view bytes, Scratch& scratch, std::vector<std::int64_t>& ids) const;
  // One token per byte, without merges.
  void encode_bytes(std::string_view bytes, std::vector<std::int64_t>& ids) const;

  std::optional<std::int64_t> find(std::string_view token_text) const;  // text in the byte alphabet
  std::int64_t largest_id() const noexcept { return largest_id_; }

 private:
  struct Merge {
    std::uint64_t pair = kNoPair;  // first id << 32 | second id
    std::uint32_t rank = 0;
    std::int32_t merged = 0;
  };
  static constexpr std::uint64_t kNoPair = ~std::uint64_t{0};

  static std::uint64_t pair_of(std::int32_t first, std::int32_t second) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(first)) << 32 | static_cast<std::uint32_t>(second);
  }
  std::size_t slot_of(std::uint64_t pair) const { return static_cast<std::size_t>((pair * 0x9E3779B97F4A7C15ull) >> merge_shift_); }
  const Merge* find_merge(std::int32_t first, std::int32_t second) const;
  void add_merge(std::uint64_t pair, std::uint32_t rank, std::int32_t merged);
  void build_units(const TokenizerFile& file);

  std::unordered_map<std::string, std::int64_t, StringHash, std::equal_to<>> vocabulary_;
  std::vector<Merge> merges_;  // open addressing, a power of two, at most half full
  int merge_shift_ = 0;
  // What one byte becomes before merging: its token, or the tokens that stand in for it, or nothing.
  std::vector<std::int32_t> units_[256];
  bool unit_is_unknown_[256] = {};
  bool fuse_unknown_ = false;
  bool ignore_merges_ = false;
  std::int64_t largest_id_ = -1;
};

}  // namespace winnow
