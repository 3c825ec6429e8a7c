// The configuration of a vision transformer, read from `vision_config` and checked: SigLIP, CLIP or InternViT, by model_type.
//
// Read by the families whose tower is vit_tower.h. Keys of InternViT alone are read by internvl_folder.h. Errors: as
// config_fields.h. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/layers/activation.h"

namespace winnow {

// Names of a tower's tensors; the defaults are SigLIP's and CLIP's.
struct VitNames {
  std::string_view patch_embedding = "embeddings.patch_embedding";
  std::string_view class_token = "embeddings.class_embedding";
  std::string_view positions = "embeddings.position_embedding.weight";
  std::string_view first_norm = "pre_layrnorm";  // the name in CLIP's files
  std::string_view layers = "encoder.layers.";
  std::string_view attention_norm = "layer_norm1";
  std::string_view query = "self_attn.q_proj";
  std::string_view key = "self_attn.k_proj";
  std::string_view value = "self_attn.v_proj";
  std::string_view query_key_value{};  // one fused matrix, q, k and v stacked; empty: three matrices
  std::string_view query_norm{};       // RMS norms of q and k over all heads at once; empty: none
  std::string_view key_norm{};
  std::string_view output = "self_attn.out_proj";
  std::string_view attention_scale{};  // layer scale of attention and MLP, per channel; empty: none
  std::string_view mlp_norm = "layer_norm2";
  std::string_view first = "mlp.fc1";
  std::string_view second = "mlp.fc2";
  std::string_view mlp_scale{};
};

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
  bool class_token = false;    // before the patches: CLIP, InternViT
  bool first_norm = false;     // before the first layer: CLIP
  bool patch_bias = true;      // false: CLIP
  bool attention_bias = true;  // of q, k and v
  bool rms_norms = false;      // in the layers; else layer norms
  double query_key_norm_eps = 1e-6;
  bool batched_tables = false;  // class token and positions are stored with a first dimension of one
  // For pictures of another size than the position table's.
  std::int64_t position_rows = 0;               // rows of the table; 0: one per patch
  std::vector<std::int64_t> row_of_patch = {};  // table row of each patch; empty: its index
  std::int64_t position_side = 0;               // a table of so many patches a side is resized (bicubic); 0: not resized
  // Pictures come in their own proportions, as rows of patches, and the table of position_side patches a side is resized for each
  // (bilinear, antialiased; SigLIP 2 NaFlex). image_size_px is not used.
  bool native_sizes = false;
  bool patch_kernel = true;  // patches are embedded by a stored convolution; false: by a product, colours innermost
  bool use_head = true;      // the file has SigLIP's pooling head, which is never used

  VitNames names{};

  std::int64_t patches() const { return patches_per_side * patches_per_side; }
};

// assumed_type: for files without model_type; "siglip_vision_model", "clip_vision_model" or "internvl_vision".
VitConfig parse_vit_config(const JsonObject& vision, std::string_view assumed_type);

}  // namespace winnow
