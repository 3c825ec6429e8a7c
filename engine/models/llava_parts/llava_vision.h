// The vision encoder of a LLaVA: tower, selection of its hidden states and tokens, and projector into the decoder's space.
//
// Used by llava/ and llava_onevision/, which tile, pool and pack around it. Threads: engine thread; methods need c10::InferenceMode.
// Errors: kDamagedFile naming the tensor; Interrupted.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>

#include "engine/layers/mlp.h"
#include "engine/models/llava_parts/llava_vision_config.h"
#include "engine/models/vision_language_model.h"
#include "engine/models/vit_tower.h"

namespace winnow {

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
