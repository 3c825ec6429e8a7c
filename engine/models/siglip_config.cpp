#include "engine/models/siglip_config.h"

#include "engine/base/error.h"
#include "engine/models/config_fields.h"

namespace winnow {
namespace {

constexpr std::int64_t kMaxImageSide = 4096;
constexpr std::int64_t kMaxPatchSide = 64;
constexpr std::int64_t kMaxPatchesPerSide = 256;

}  // namespace

SiglipVisionConfig parse_siglip_config(const JsonObject& vision) {
  require_model_type(vision, "siglip_vision_model", true);
  SiglipVisionConfig config;
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
  config.layer_norm_eps = vision.real("layer_norm_eps", kMinEpsilon, 1.0, config.layer_norm_eps);
  config.activation = read_activation(vision, "hidden_act", "gelu_pytorch_tanh");
  config.use_head = vision.boolean("vision_use_head", true);
  return config;
}

}  // namespace winnow
