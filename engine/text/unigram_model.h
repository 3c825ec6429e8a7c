// Of all ways to write a word with the tokens of a vocabulary the one with the highest sum of scores: what tokenizer.json calls Unigram.
//
// Used by the tokenizer. A character that is no token may be the unknown token, whose score is ten below the lowest; neighbours that are
// unknown are one token, or the tokens of its bytes ("<0xE4>") where all of these are there. Of equal sums the first one stays that is
// found from the left, shorter tokens first; sums are kept in 64 bits, from the word's beginning on. All as in `tokenizers` 0.22.2. A word
// of n bytes costs O(n) times its longest tokens. Errors of the constructor: Exception kDamagedFile (duplicate tokens or ids, scores that
// do not fit, an unknown token that is not there), kLimitExceeded (token_trie.h).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/text/token_trie.h"
#include "engine/text/tokenizer_file.h"
#include "engine/text/word_model.h"

namespace winnow {

class UnigramModel final : public WordModel {
 public:
  explicit UnigramModel(const TokenizerFile& file);

  void encode_word(std::string_view word, std::vector<std::int64_t>& ids) override;
  void encode_units(std::string_view word, std::vector<std::int64_t>& ids) override;

  std::optional<std::int64_t> find(std::string_view token_text) const override;
  std::int64_t largest_id() const override { return largest_id_; }

 private:
  static constexpr std::int32_t kNone = -1;

  // The best way to write what is before a place.
  struct Best {
    double score = 0;
    std::int32_t begin = kNone;  // of the last token; none: no way leads here
    std::int32_t id = 0;
  };

  void find_best(std::string_view word);
  // A run of characters that are unknown.
  void append_unknown(std::string_view text, std::vector<std::int64_t>& ids) const;

  TokenMap vocabulary_;
  TokenTrie trie_;
  std::vector<double> scores_;  // by id
  double unknown_score_ = 0;
  std::int32_t unknown_ = 0;
  std::array<std::int32_t, 256> bytes_;
  std::int64_t largest_id_ = -1;
  // Memory of encode_word().
  std::vector<Best> best_;
  std::vector<std::int32_t> ends_;
};

}  // namespace winnow
