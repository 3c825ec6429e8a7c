// The vision encoder of a LLaVA in config.json: tower, selected hidden states, projector.
//
// Read by the LLaVA families' configurations, which differ in what a file need not say. Errors: as config_fields.h. No torch. Threads:
// plain values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/layers/activation.h"
#include "engine/models/config/vit_config.h"
#include "engine/vision/pixel_scaling.h"
#include "engine/vision/pixel_size.h"
#include "engine/vision/resize.h"
#include "engine/weights/weight_names.h"

namespace winnow {

// How one picture becomes the square that a vision tower takes, as the processor files of the LLaVA models describe it. Filter and scaling
// are read by picture_config.h.

inline constexpr std::int64_t kMaxProcessedSidePx = 4096;

struct PictureRules {
  PixelSize size = {384, 384};  // what the tower gets
  // 0: the picture is resized to `size`. Else its shorter side becomes so long, and the centre of `size` is cut out, black where it ends.
  std::int64_t shortest_edge_px = 0;
  bool pad_to_square = false;  // before that, with the mean colour
  ResampleFilter filter = ResampleFilter::kBicubic;
  PixelScaling scaling{};
  ResizeArithmetic arithmetic = ResizeArithmetic::kTorch;  // of resizing and of scaling
};

// [[height, width], ...] under `key`, 1 to 256 pairs of 1 to 16,384 px.
std::vector<PixelSize> read_grid_pinpoints(const JsonObject& object, const char* key);

// Names of a LLaVA's tensors: text decoder, vision tower, projector, image_newline.  transformers up to 4.51 and save_pretrained of 5.x
// write `language_model.model.layers...`, `language_model.lm_head.weight`, `vision_tower...`; folders saved between them have
// `model.language_model.layers...`, `lm_head.weight`, `model.vision_tower...`. The first is canonical here. A model that transformers 5.24
// made and did not load has `vision_tower.encoder...` where others have `vision_tower.vision_model.encoder...`.
std::span<const WeightNameRule> llava_weight_name_rules();

// How the patches of a video's frame become fewer tokens: how many, without pixels or tensors. Follows LLaVA-NeXT's get_2dPool and
// transformers' LLaVA-NeXT-Video and LLaVA-OneVision.

enum class FramePooling : int {
  kAverage = 1,   // of stride x stride patches; what fills no square at the end is left out
  kMaximum = 2,   // likewise
  kBilinear = 3,  // the map resized to the next whole number of its side / stride
};

struct FramePoolingRules {
  FramePooling mode = FramePooling::kAverage;
  std::int64_t stride = 2;

  // Tokens a side; 0 where a stride beyond the patches leaves none.
  std::int64_t side(std::int64_t patches_per_side) const {
    return mode == FramePooling::kBilinear ? (patches_per_side + stride - 1) / stride : patches_per_side / stride;
  }
};

enum class FeatureSelectStrategy : int {
  kFull = 1,     // every token of the tower
  kDefault = 2,  // without the first: the class token of towers that have one, else a patch
};

struct LlavaVisionConfig {
  VitConfig vision;
  Activation projector_activation = Activation::kGelu;
  bool projector_bias = true;
  // Hidden states of the tower that are concatenated for the projector, in the file's order, counted from the embeddings:
  // 0 = before the first layer, vision.layers = after the last. Never empty.
  std::vector<std::int64_t> feature_states;
  FeatureSelectStrategy select_strategy = FeatureSelectStrategy::kFull;

  bool drops_first() const { return select_strategy == FeatureSelectStrategy::kDefault; }
  // The patches of the tower are the features, no more and no less: what tiling and pooling need.
  bool features_are_patches() const { return vision.class_token == drops_first(); }
  std::int64_t features() const { return vision.patches() + (vision.class_token ? 1 : 0) - (drops_first() ? 1 : 0); }
};

// Defaults of the family's configuration class.
struct LlavaVisionDefaults {
  const char* tower = "clip_vision_model";
  std::int64_t feature_layer = -2;
  const char* strategy = "default";
};

// root: config.json; vision: its vision_config.
LlavaVisionConfig read_llava_vision(const JsonObject& root, const JsonObject& vision, const LlavaVisionDefaults& defaults);

// "full" or "default".
const char* name_of(FeatureSelectStrategy strategy);

// transformers reads some facts twice, from the model's and from the processor's files, and fails in the middle of a run when they differ:
// kDamagedFile with "<file>: <key>" as subject.
void require_agreement(bool agree, const std::string& file, const char* key, const char* reason);

}  // namespace winnow
