#include "engine/models/vision/qwen_vision_config.h"

#include <algorithm>
#include <array>
#include <string>

#include "engine/base/error.h"
#include "engine/models/config/config_fields.h"

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

std::span<const WeightNameRule> qwen_vl_weight_name_rules() {
  static constexpr std::array<WeightNameRule, 2> kRules = {{
      {"model.language_model.", "model."},
      {"model.visual.", "visual."},
  }};
  return kRules;
}

WindowOrder window_order(const CellGrid& grid, std::int64_t side) {
  require(side > 0, "window_order: a window has cells");
  WindowOrder order;
  // Along an axis: the stretch of whole windows, and what is left of it.
  struct Stretch {
    std::int64_t first, end, side;
  };
  const auto stretches = [&](std::int64_t length) {
    const std::int64_t whole = length / side * side;
    return std::vector<Stretch>{{0, whole, side}, {whole, length, length - whole}};
  };
  for (const Stretch& down : stretches(grid.rows)) {
    for (const Stretch& across : stretches(grid.columns)) {
      WindowGroup group{std::ssize(order.cells), 0, down.side * across.side};
      if (group.cells == 0) continue;
      for (std::int64_t top = down.first; top < down.end; top += down.side) {
        for (std::int64_t left = across.first; left < across.end; left += across.side) {
          ++group.windows;
          for (std::int64_t row = top; row < top + down.side; ++row) {
            for (std::int64_t column = left; column < left + across.side; ++column) order.cells.push_back(row * grid.columns + column);
          }
        }
      }
      if (group.windows > 0) order.groups.push_back(group);
    }
  }
  return order;
}

}  // namespace winnow
