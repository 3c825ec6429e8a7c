#include "engine/models/qwen_vl_parts/qwen_vision_config.h"

#include <string>

#include "engine/models/config_fields.h"

namespace winnow {

QwenVisionConfig read_qwen_vision(const JsonObject& vision, const QwenVisionKeys& keys) {
  QwenVisionConfig config;
  config.layers = vision.integer("depth", 1, kMaxLayers);
  config.heads = vision.integer("num_heads", 1, kMaxHeads);
  config.hidden_size = vision.integer(keys.width, 1, kMaxHidden);
  config.out_size = vision.integer(keys.out, 1, kMaxHidden);
  if (config.hidden_size % (4 * config.heads) != 0) {
    vision.refuse(ErrorCode::kDamagedFile, "num_heads",
                  std::string(keys.width) + " " + std::to_string(config.hidden_size) + " makes no heads of a multiple of four channels");
  }
  config.head_dim = config.hidden_size / config.heads;
  if (vision.integer("in_channels", 1, 16, 3) != 3) unsupported(vision, "in_channels", "pictures have three colours");
  config.patches.patch_px = vision.integer("patch_size", 1, kMaxPatchPx);
  config.patches.merge = vision.integer("spatial_merge_size", 1, kMaxMerge);
  config.patches.joined_frames = vision.integer("temporal_patch_size", 1, kMaxJoinedFrames);
  config.activation = read_activation(vision, "hidden_act", keys.activation);
  return config;
}

}  // namespace winnow
