#include "engine/models/llava_onevision/video_rules.h"

#include <array>
#include <string>
#include <utility>

#include "engine/base/error.h"
#include "engine/models/config_fields.h"

namespace winnow {
namespace {

constexpr std::int64_t kMostStride = 64;

FramePooling read_mode(const JsonObject& root) {
  const std::string mode = root.string("mm_spatial_pool_mode", kMaxNameBytes, "bilinear");
  if (mode == "average") return FramePooling::kAverage;
  if (mode == "max") return FramePooling::kMaximum;
  if (mode == "bilinear") return FramePooling::kBilinear;
  unsupported(root, "mm_spatial_pool_mode", quoted_name(mode) + " is none of \"average\", \"max\" and \"bilinear\"");
}

NewlinePlace read_newline(const JsonObject& root) {
  constexpr std::array<std::pair<const char*, NewlinePlace>, 4> kPlaces = {{{"grid", NewlinePlace::kRow},
                                                                            {"frame", NewlinePlace::kFrame},
                                                                            {"one_token", NewlinePlace::kVideo},
                                                                            {"no_token", NewlinePlace::kNowhere}}};
  const std::string name = root.string("mm_newline_position", kMaxNameBytes, "one_token");
  for (const auto& [known, place] : kPlaces) {
    if (name == known) return place;
  }
  unsupported(root, "mm_newline_position", quoted_name(name) + " is none of \"grid\", \"frame\", \"one_token\" and \"no_token\"");
}

}  // namespace

VideoRules read_video_rules(const JsonObject& root, std::int64_t patches_per_side) {
  VideoRules rules;
  rules.pooling.mode = read_mode(root);
  rules.pooling.stride = root.integer("mm_spatial_pool_stride", 1, kMostStride, rules.pooling.stride);
  if (rules.pooling.side(patches_per_side) == 0)
    root.refuse(ErrorCode::kDamagedFile, "mm_spatial_pool_stride", "it goes beyond the vision tower's patches and leaves none of a frame");
  rules.newline = read_newline(root);
  rules.tells_times = root.boolean("add_time_instruction", false);
  if (root.boolean("add_faster_video", false))
    unsupported(root, "add_faster_video", "frames that are pooled twice as much between others are not implemented");
  const std::string merge = root.string("mm_patch_merge_type", kMaxNameBytes, "spatial_unpad");
  if (merge != "spatial_unpad") unsupported(root, "mm_patch_merge_type", quoted_name(merge) + " is not \"spatial_unpad\"");
  return rules;
}

}  // namespace winnow
