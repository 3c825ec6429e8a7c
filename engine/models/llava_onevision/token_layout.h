// Which tokens a LLaVA-OneVision makes of what is not tiled: one image among several, and videos.
//
// Used by llava_onevision.h and its loader. Follows transformers' pack_image_features and get_video_features, and LLaVA-NeXT's
// add_token_per_grid and add_token_per_frame. No torch. Threads: plain functions. Errors: Exception kUnsupportedModel where the select
// strategy leaves no square of features to pool.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/token_origin.h"
#include "engine/models/llava_onevision/video_rules.h"
#include "engine/models/llava_parts/visual_grid.h"

namespace winnow {

// One tile and one newline.
std::vector<TokenOrigin> single_image_origins(const GridRules& rules);

// Pooled tokens of a frame, a side.
std::int64_t frame_side(const GridRules& rules, const VideoRules& video);
// Tokens of a frame with the newlines that it has.
std::int64_t frame_tokens(const GridRules& rules, const VideoRules& video);

// Frames row by row. A newline of a row or a frame is of that frame, one at the end of frame -1.
std::vector<TokenOrigin> video_origins(std::int64_t frames, const GridRules& rules, const VideoRules& video);

}  // namespace winnow
