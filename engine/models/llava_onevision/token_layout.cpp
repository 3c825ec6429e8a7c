#include "engine/models/llava_onevision/token_layout.h"

#include "engine/base/error.h"

namespace winnow {

std::vector<TokenOrigin> single_image_origins(const GridRules& rules) {
  std::vector<TokenOrigin> origins = frame_origins(1, rules.patches_per_side);
  if (rules.drop_first_feature) origins.erase(origins.begin());
  origins.push_back(origin_beside_patches(0));
  return origins;
}

std::int64_t frame_side(const GridRules& rules, const VideoRules& video) {
  if (rules.drop_first_feature) {
    throw Exception(ErrorCode::kUnsupportedModel, "vision_feature_select_strategy",
                    "\"default\" leaves no square of features to pool frames");
  }
  return video.pooling.side(rules.patches_per_side);
}

std::int64_t frame_tokens(const GridRules& rules, const VideoRules& video) {
  const std::int64_t side = frame_side(rules, video);
  const std::int64_t newlines = video.newline == NewlinePlace::kRow ? side : video.newline == NewlinePlace::kFrame ? 1 : 0;
  return side * side + newlines;
}

std::vector<TokenOrigin> video_origins(std::int64_t frames, const GridRules& rules, const VideoRules& video) {
  const std::int64_t side = frame_side(rules, video);
  std::vector<TokenOrigin> origins;
  for (std::int64_t frame = 0; frame < frames; ++frame) {
    for (std::int64_t row = 0; row < side; ++row) {
      for (std::int64_t column = 0; column < side; ++column) origins.push_back(visual_origin(frame, row, column));
      if (video.newline == NewlinePlace::kRow) origins.push_back(origin_beside_patches(frame));
    }
    if (video.newline == NewlinePlace::kFrame) origins.push_back(origin_beside_patches(frame));
  }
  if (video.newline == NewlinePlace::kVideo) origins.push_back(origin_beside_patches(-1));
  return origins;
}

}  // namespace winnow
