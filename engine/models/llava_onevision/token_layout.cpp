#include "engine/models/llava_onevision/token_layout.h"

#include "engine/base/error.h"

namespace winnow {
namespace {

std::int64_t pooled_side(const GridRules& rules) {
  if (rules.drop_first_feature) {
    throw Exception(ErrorCode::kUnsupportedModel, "vision_feature_select_strategy",
                    "\"default\" leaves no square of features to pool frames");
  }
  return (rules.patches_per_side + 1) / 2;
}

}  // namespace

std::vector<TokenOrigin> single_image_origins(const GridRules& rules) {
  std::vector<TokenOrigin> origins = frame_origins(1, rules.patches_per_side);
  if (rules.drop_first_feature) origins.erase(origins.begin());
  origins.push_back(origin_beside_patches(0));
  return origins;
}

std::int64_t frame_tokens(const GridRules& rules) {
  const std::int64_t side = pooled_side(rules);
  return side * side;
}

std::vector<TokenOrigin> video_origins(std::int64_t frames, const GridRules& rules) {
  std::vector<TokenOrigin> origins = frame_origins(frames, pooled_side(rules));
  origins.push_back(origin_beside_patches(-1));
  return origins;
}

}  // namespace winnow
