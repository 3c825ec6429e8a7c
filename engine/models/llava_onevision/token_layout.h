// Which tokens a LLaVA-OneVision makes of what is not tiled: one image among several, and videos.
//
// Used by llava_onevision.h and its loader. Follows transformers' pack_image_features and get_video_features. No torch. Threads: plain
// functions. Errors: Exception kUnsupportedModel where the select strategy leaves no square of features to pool.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/token_origin.h"
#include "engine/models/llava_parts/visual_grid.h"

namespace winnow {

// One tile and one newline.
std::vector<TokenOrigin> single_image_origins(const GridRules& rules);

// Tokens per frame after 2 x 2 pooling: ceil(patches_per_side / 2) squared.
std::int64_t frame_tokens(const GridRules& rules);

// Frames, and one newline of frame -1 at the end.
std::vector<TokenOrigin> video_origins(std::int64_t frames, const GridRules& rules);

}  // namespace winnow
