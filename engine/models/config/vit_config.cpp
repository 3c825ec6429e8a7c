#include "engine/models/config/vit_config.h"

#include <algorithm>
#include <array>
#include <string>

#include "engine/base/error.h"
#include "engine/models/config/config_fields.h"

namespace winnow {
namespace {

constexpr std::int64_t kMaxImageSide = 4096;
constexpr std::int64_t kMaxPatchSide = 64;
constexpr std::int64_t kMaxPatchesPerSide = 256;

// Defaults of transformers' configuration classes.
struct VitType {
  const char* model_type;
  bool class_token;
  bool first_norm;
  bool patch_bias;
  double layer_norm_eps;
  const char* activation;
};

constexpr std::array<VitType, 3> kVitTypes = {{
    {"siglip_vision_model", false, false, true, 1e-6, "gelu_pytorch_tanh"},
    {"clip_vision_model", true, true, false, 1e-5, "quick_gelu"},
    {"internvl_vision", true, false, true, 1e-6, "gelu"},
}};

const VitType& vit_type_of(const JsonObject& vision, std::string_view assumed) {
  const std::string name = vision.string("model_type", kMaxNameBytes, std::string(assumed));
  const auto* found = std::ranges::find_if(kVitTypes, [&](const VitType& type) { return name == type.model_type; });
  if (found == kVitTypes.end()) unsupported(vision, "model_type", quoted_name(name) + " is not a model that this program runs");
  return *found;
}

}  // namespace

VitConfig parse_vit_config(const JsonObject& vision, std::string_view assumed_type) {
  const VitType& type = vit_type_of(vision, assumed_type);
  VitConfig config;
  config.class_token = type.class_token;
  config.first_norm = type.first_norm;
  config.patch_bias = type.patch_bias;
  config.hidden_size = vision.integer("hidden_size", 1, kMaxHidden);
  config.intermediate_size = vision.integer("intermediate_size", 1, kMaxIntermediate);
  config.layers = vision.integer("num_hidden_layers", 1, kMaxLayers);
  config.heads = vision.integer("num_attention_heads", 1, kMaxHeads);
  config.head_dim = read_head_dim(vision, config.hidden_size, config.heads);
  if (config.head_dim * config.heads != config.hidden_size)
    vision.refuse(ErrorCode::kDamagedFile, "head_dim", "heads times head_dim must be hidden_size");
  config.image_size_px = vision.integer("image_size", 1, kMaxImageSide);
  config.patch_size_px = vision.integer("patch_size", 1, kMaxPatchSide);
  config.patches_per_side = config.image_size_px / config.patch_size_px;
  if (config.patches_per_side < 1) vision.refuse(ErrorCode::kDamagedFile, "patch_size", "a patch is larger than the image");
  if (config.patches_per_side > kMaxPatchesPerSide) vision.refuse(ErrorCode::kLimitExceeded, "patch_size", "more than 256 patches a side");
  config.channels = vision.integer("num_channels", 1, 16, 3);
  if (config.channels != 3) unsupported(vision, "num_channels", "pictures have three colours");
  config.layer_norm_eps = vision.real("layer_norm_eps", kMinEpsilon, 1.0, type.layer_norm_eps);
  config.activation = read_activation(vision, "hidden_act", type.activation);
  config.use_head = vision.boolean("vision_use_head", true);
  return config;
}

}  // namespace winnow
