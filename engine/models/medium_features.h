// Features among words, and what comes before them: patches side by side in one token, and places in a source that is watched.
//
// Used by the families that write words between pictures (smolvlm/, internvl/, gemma3/). Threads: engine thread; callers hold
// c10::InferenceMode. Errors: kInternal for pictures that do not fit their tokens.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>

#include "engine/models/medium_tokens.h"
#include "engine/models/vision_language_model.h"

namespace winnow {

// of_patches: [pictures, patches, channels] of squares whose side `scale` divides. Returns [pictures, tokens, scale * scale * channels]:
// the patches of a token row by row.
at::Tensor shuffled_patches(const at::Tensor& of_patches, std::int64_t scale);

// The words' embeddings with the pictures' features where pixels stand; words are of no importance.
MediaFeatures features_among_words(MediumTokens tokens, const EncodedParts& parts, const TextDecoder& text);

// A frame's picture, its last picture_tokens tokens, stands in its place; its words stand before it. frame_tokens: from place to place.
struct FrameLayout {
  std::int64_t frame_tokens = 0;
  std::int64_t picture_tokens = 0;
};
TokenPositions stream_positions_of_pictures(std::span<const TokenOrigin> origins, const StreamPositions& stream, const FrameLayout& frame);

}  // namespace winnow
