// A medium whose tokens are partly words: which of them stand for pixels, and how the tower's features come between the words' embeddings.
//
// Used by the families that write markers of tiles or times of frames into a medium (smolvlm/, qwen3_vl/). Threads: engine thread.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/token_origin.h"

namespace winnow {

class TextDecoder;
struct EncodedParts;
struct MediaFeatures;

struct MediumTokens {
  std::vector<TokenOrigin> origins;  // modality kVisual, `media` at -1; words have no row
  std::vector<std::int64_t> ids;     // a placeholder where pixels stand
};

// Words as the text model embeds them, with no importance; all parts of the medium where the tokens have a row, in their order.
MediaFeatures among_words(const TextDecoder& text, MediumTokens tokens, const EncodedParts& parts);

}  // namespace winnow
