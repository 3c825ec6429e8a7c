// Vision features between text tokens: pixel shuffle, merging into embeddings, and positions in a watched source.
//
// Used by sight.h for all families, and by those that shuffle or watch. Threads: engine thread; callers hold c10::InferenceMode. Errors:
// kInternal for pictures that do not fit their tokens.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>
#include <vector>

#include "engine/models/sight.h"
#include "engine/models/vision/medium_tokens.h"

namespace winnow {

// Pixel shuffle. of_patches: [pictures, patches, channels] of squares whose side is a multiple of `scale`. Returns
// [pictures, tokens, scale * scale * channels], the patches of a token row by row.
at::Tensor shuffled_patches(const at::Tensor& of_patches, std::int64_t scale);

// Embeddings of the medium's text tokens, with the pictures' features at its image tokens. Text tokens have importance 0.
MediaFeatures features_among_words(MediumTokens tokens, const EncodedParts& parts, const TextDecoder& text);

// The parts one behind the other, of a medium without words.
MediaFeatures features_in_order(std::vector<TokenOrigin> origins, const EncodedParts& parts);

// A frame is its text, then picture_tokens image tokens. frame_tokens: positions from one frame to the next.
struct FrameLayout {
  std::int64_t frame_tokens = 0;
  std::int64_t picture_tokens = 0;
};
TokenPositions stream_positions_of_pictures(std::span<const TokenOrigin> origins, const StreamPositions& stream, const FrameLayout& frame);

}  // namespace winnow
