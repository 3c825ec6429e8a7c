// Tokens of a medium with text between its pictures: tile markers, frame times, frame numbers.
//
// Built by the families that write such text (smolvlm/, internvl/, gemma3/, gemma4/, minicpmv/, mistral3/); merged with features by
// medium_features.h. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/base/token_origin.h"
#include "engine/text/tokenizer.h"

namespace winnow {

// A square of tokens: its frame or tile, and the row and column of its first token in the whole grid.
struct TokenSquare {
  std::int64_t side = 0;
  std::int64_t frame = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;
};

// A row of tokens of the first frame or tile.
struct TokenRow {
  std::int64_t row = 0;
  std::int64_t columns = 0;
};

// The id of a special token that a family writes. whose: "an InternVL". Errors: kDamagedFile about `file` where the tokenizer has no such.
std::int64_t special_token_id(const Tokenizer& tokenizer, const std::string& token, const std::string& whose, const std::string& file);

struct MediumTokens {
  std::vector<TokenOrigin> origins;  // modality kVisual, `media` at -1; text tokens have no row and column
  std::vector<std::int64_t> ids{};   // the image token id for pixels

  void add_words(std::span<const std::int64_t> words, std::int64_t frame);
  void add_row(const TokenRow& row, std::int64_t image_token_id);
  // Row by row.
  void add_square(const TokenSquare& square, std::int64_t image_token_id);
};

}  // namespace winnow
