// A vision transformer as config.json describes it (`vision_config`), checked: SigLIP's, CLIP's or InternViT's, told by model_type.
//
// Read by the families whose tower is vit_tower.h. What only InternViT's keys say reads internvl/internvl_config.h. Errors: as
// config_fields.h. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/layers/activation.h"

namespace winnow {

// How a tower's tensors are called, layer by layer; the names of SigLIP and CLIP.
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
  std::string_view query_key_value{};  // one matrix for all three, one below the other; empty: there are three
  std::string_view query_norm{};       // RMS norms of q and k over all heads together; empty: there are none
  std::string_view key_norm{};
  std::string_view output = "self_attn.out_proj";
  std::string_view attention_scale{};  // of what attention and MLP add, channel by channel; empty: there is none
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
  bool class_token = false;    // a learned token before the patches: CLIP, InternViT
  bool first_norm = false;     // before the first layer: CLIP
  bool patch_bias = true;      // not CLIP
  bool attention_bias = true;  // of q, k and v
  bool rms_norms = false;      // in the layers; else layer norms
  double query_key_norm_eps = 1e-6;
  bool batched_tables = false;  // class token and positions are stored with a first dimension of one
  // Towers that take pictures of another size than their position table was made for: its rows, and the one of each patch.
  std::int64_t position_rows = 0;               // 0: one for each patch
  std::vector<std::int64_t> row_of_patch = {};  // empty: its own number
  std::int64_t position_side = 0;               // a table for so many patches a side is resized (bicubic); 0: it fits
  bool use_head = true;                         // the pooling head of a SigLIP file is never used

  VitNames names{};

  std::int64_t patches() const { return patches_per_side * patches_per_side; }
};

// assumed_type: where the file names no model_type; "siglip_vision_model", "clip_vision_model", "internvl_vision".
VitConfig parse_vit_config(const JsonObject& vision, std::string_view assumed_type);

}  // namespace winnow
