// Tokens of a medium whose pictures stand among words: markers of tiles, times and numbers of frames.
//
// Put together by the families that write words between pictures (smolvlm/, internvl/, gemma3/), which know what is written; joined with
// features by medium_features.h. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/token_origin.h"

namespace winnow {

// A square of tokens: which frame or tile it is, and where its first token stands in the grid that it is a part of.
struct TokenSquare {
  std::int64_t side = 0;
  std::int64_t frame = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;
};

struct MediumTokens {
  std::vector<TokenOrigin> origins;  // modality kVisual, `media` at -1; words have no row and column
  std::vector<std::int64_t> ids;     // the image token where pixels stand

  void add_words(std::span<const std::int64_t> words, std::int64_t frame);
  // Row by row.
  void add_square(const TokenSquare& square, std::int64_t image_token_id);
};

}  // namespace winnow
