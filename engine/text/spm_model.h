// Byte pair encoding of one word as SentencePiece does it: of all neighbours whose joined text is a token, the two whose token has the
// highest score merge first, the leftmost of equals; ranks of merges there are none.
//
// Used by the tokenizer. The text has been normalised (U+2581 for a space). A character that is no token becomes the tokens of its bytes
// ("<0xE4>"), where one of these is missing the unknown token, once for a run of such characters. A word of n bytes costs O(n log n)
// searches for texts no longer than the longest token.
// Source: sentencepiece's bpe_model.cc; scores and byte tokens as GGUF files have them.
// Errors of the constructor: Exception kDamagedFile (duplicate tokens or ids, scores that do not fit, no token for what is not known).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/text/tokenizer_file.h"
#include "engine/text/word_model.h"

namespace winnow {

class SpmModel final : public WordModel {
 public:
  explicit SpmModel(const TokenizerFile& file);

  void encode_word(std::string_view word, std::vector<std::int64_t>& ids) override;
  void encode_units(std::string_view word, std::vector<std::int64_t>& ids) override;

  std::optional<std::int64_t> find(std::string_view token_text) const override;
  std::int64_t largest_id() const override { return largest_id_; }

 private:
  static constexpr std::int32_t kNone = -1;

  struct Symbol {
    std::int32_t begin = 0;  // in the word, bytes
    std::int32_t bytes = 0;  // 0: merged into the symbol before it
    std::int32_t previous = kNone;
    std::int32_t next = kNone;
    std::int32_t id = kNone;  // none: a character that is no token
  };
  struct Candidate {
    float score = 0;
    std::int32_t left = 0;
    std::int32_t bytes = 0;  // of both
    std::int32_t id = 0;
  };

  void take_apart(std::string_view word);
  void append_ids(std::string_view word, std::vector<std::int64_t>& ids) const;

  TokenMap vocabulary_;
  std::vector<float> scores_;  // by id
  std::size_t longest_token_ = 0;
  std::array<std::int32_t, 256> bytes_;
  std::int32_t unknown_ = kNone;
  std::int64_t largest_id_ = -1;
  // Memory of encode_word().
  std::vector<Symbol> symbols_;
  std::vector<Candidate> queue_;
};

}  // namespace winnow
