// A vision transformer as config.json describes it (`vision_config`), checked: SigLIP's or CLIP's, told by model_type.
//
// Read by the families whose tower is vit_tower.h. Errors: as config_fields.h. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/layers/activation.h"

namespace winnow {

struct VitConfig {
  std::int64_t hidden_size = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t image_size_px = 0;
  std::int64_t patch_size_px = 0;
  std::int64_t patches_per_side = 0;  // image_size / patch_size, rounded down
  std::int64_t channels = 3;          // always 3
  double layer_norm_eps = 1e-6;
  Activation activation = Activation::kGeluTanh;
  // CLIP: a learned token before the patches, a norm before the first layer, and a patch embedding without bias. SigLIP has none of these.
  bool class_token = false;
  // Towers that take pictures of another size than their position table was made for: its rows, and the one of each patch.
  std::int64_t position_rows = 0;               // 0: one for each patch
  std::vector<std::int64_t> row_of_patch = {};  // empty: its own number
  bool use_head = true;                         // the pooling head of a SigLIP file is never used

  std::int64_t patches() const { return patches_per_side * patches_per_side; }
};

// assumed_type: where the file names no model_type; "siglip_vision_model" or "clip_vision_model".
VitConfig parse_vit_config(const JsonObject& vision, std::string_view assumed_type);

}  // namespace winnow
