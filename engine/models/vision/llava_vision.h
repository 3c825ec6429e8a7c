// The vision encoder of a LLaVA: tower, selection of its hidden states and tokens, and projector into the decoder's space.
//
// Used by llava/ and llava_onevision/, which tile, pool and pack around it. Threads: engine thread; methods need c10::InferenceMode.
// Errors: kDamagedFile naming the tensor; Interrupted.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>

#include "engine/layers/mlp.h"
#include "engine/models/media_facts.h"
#include "engine/models/vision/llava_vision_config.h"
#include "engine/models/vision/visual_grid.h"
#include "engine/models/vision/vit_tower.h"
#include "engine/models/vision_language_model.h"

namespace winnow {

// Patches of a video's frames pooled to fewer tokens.

// patches: [frames, side * side, width], row by row; result: [frames, rules.side(side) squared, width].
at::Tensor pooled_frames(const at::Tensor& patches, std::int64_t side, FramePoolingRules rules);

// Features of an image's tiles in prompt order: the base tile, then the stitched and unpadded map with a newline embedding after each row.
// Used by the LLaVA families that tile (transformers' pack_image_features); which tokens that gives says visual_grid.h.

// tiles: [1 + tiles, patches, hidden], base first; newline: [hidden].
MediaFeatures packed_tiles(PixelSize source, const GridRules& rules, const EncodedParts& tiles, const at::Tensor& newline);

// maps: [count, rows, columns, hidden]. As torch.nn.functional.interpolate(mode="bilinear") on channels first.
at::Tensor resized_maps(const at::Tensor& maps, std::int64_t rows, std::int64_t columns);

class LlavaVision {
 public:
  // hidden_size: of the decoder.
  LlavaVision(const LlavaVisionConfig& config, std::int64_t hidden_size, WeightReader& weights);

  // pixels: fp32 [parts, 3, side, side]. Features as the projector takes them, [parts, config.features(), vision hidden * feature_states].
  TowerFeatures features(const at::Tensor& pixels, std::optional<VisionJudge> judge, const InterruptToken& interrupt) const;
  at::Tensor project(const at::Tensor& features) const { return projector_(features); }
  // One after the other; parts of [config.features()] tokens.
  EncodedParts encode(const at::Tensor& pixels, std::optional<VisionJudge> judge, const InterruptToken& interrupt) const;

 private:
  bool drops_first_;
  VitTower tower_;
  PlainMlp projector_;
};

}  // namespace winnow
