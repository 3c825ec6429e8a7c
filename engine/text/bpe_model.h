// Byte pair encoding of one word, the merge of the lowest rank first: what tokenizer.json calls BPE.
//
// Used by the tokenizer. A word is taken apart into bytes (byte-level vocabularies) or into characters; a character that is no token
// becomes the tokens of its bytes, or the unknown token. Built once from a TokenizerFile. A word of n bytes costs O(n log n). Errors of the
// constructor: Exception kDamagedFile (duplicate tokens or ids, merges of or into unknown tokens).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/text/token_decoder.h"
#include "engine/text/tokenizer_file.h"
#include "engine/text/word_model.h"

namespace winnow {

class BpeModel final : public WordModel {
 public:
  BpeModel(const TokenizerFile& file, TokenAlphabet alphabet);

  void encode_word(std::string_view word, std::vector<std::int64_t>& ids) override;
  void encode_units(std::string_view word, std::vector<std::int64_t>& ids) override;

  std::optional<std::int64_t> find(std::string_view token_text) const override;
  std::int64_t largest_id() const override { return largest_id_; }

 private:
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
  void build_byte_units(const TokenizerFile& file);
  void build_character_units(const TokenizerFile& file);
  void build_merges(const TokenizerFile& file);
  // Splits a word into its parts before merging, into symbols_.
  void take_apart(std::string_view word);
  void take_apart_into_characters(std::string_view word);
  // Adds what one byte or character is. An unknown one waits: for the library it stands behind the bytes that stand in for its neighbours,
  // before the next token.
  void add_token_unit(std::int32_t id);
  void add_byte_units(std::span<const std::int32_t> ids);
  void add_unknown();
  void flush_unknown();

  TokenAlphabet alphabet_;
  TokenMap vocabulary_;
  std::vector<Merge> merges_;  // open addressing, a power of two, at most half full
  int merge_shift_ = 0;
  // The tokens of one byte before merging: its own, or those that stand in for it, or none. For characters: the bytes' tokens.
  std::array<std::vector<std::int32_t>, 256> units_;
  enum class Unit : std::uint8_t { kNothing, kToken, kBytes, kUnknown };
  std::array<Unit, 256> unit_kinds_{};  // of bytes
  bool unknown_waits_ = false;
  std::optional<std::int32_t> unknown_;
  bool fuse_unknown_ = false;
  bool ignore_merges_ = false;
  std::int64_t largest_id_ = -1;
  // Memory of encode_word().
  std::vector<Symbol> symbols_;
  std::vector<Candidate> queue_;
};

}  // namespace winnow
