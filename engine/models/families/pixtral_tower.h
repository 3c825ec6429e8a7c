// Pixtral's vision transformer: patches of one picture in its own proportions in, one hidden state for each patch out.
//
// Used by mistral3.cpp. Queries and keys are rotated by a patch's row and column: rows have the even frequencies of a head, columns the odd
// ones. All patches of a picture attend to each other. Follows transformers' PixtralVisionModel: an RMS norm after the patch embedding, RMS
// norms and gated MLPs without biases, rotation in the model's dtype. Dtype fp32, bf16 or (on a GPU) fp16. Threads: engine thread; methods
// need c10::InferenceMode. Errors: kDamagedFile naming the tensor; Interrupted.
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <string>
#include <vector>

#include "engine/base/interrupt.h"
#include "engine/layers/linear.h"
#include "engine/layers/mlp.h"
#include "engine/layers/norm.h"
#include "engine/layers/rotary.h"
#include "engine/models/families/mistral3_folder.h"
#include "engine/models/vision/vision_judge.h"
#include "engine/models/weights/weight_reader.h"

namespace winnow {

struct PatchFeatures {
  at::Tensor features;    // [patches, hidden]
  at::Tensor importance;  // fp32 [patches]; undefined without a judge
};

class PixtralTower {
 public:
  static constexpr std::int64_t kTileRows = 1024;  // an interrupt is polled per tile of rows

  // prefix: "vision_tower.".
  PixtralTower(const PixtralConfig& config, const PatchGeometry& patches, WeightReader& weights, const std::string& prefix);

  // patches: fp32 [patches, 3, patch, patch], cell by cell (patch_rows()), on any device.
  PatchFeatures encode(const at::Tensor& patches, const CellGrid& grid, std::optional<VisionJudge> judge,
                       const InterruptToken& interrupt) const;

 private:
  struct Layer {
    RmsNorm attention_norm;
    Linear qkv;
    Linear output;
    RmsNorm mlp_norm;
    GatedMlp mlp;
  };
  Layer read_layer(WeightReader& weights, const std::string& prefix) const;
  RotaryAngles angles_of(const CellGrid& grid) const;
  // hidden: [patches, hidden], replaced in place. Returns the rotated queries and keys, [2, heads, patches, d].
  at::Tensor run_layer(const Layer& layer, const RotaryAngles& angles, at::Tensor& hidden, const InterruptToken& interrupt) const;

  PixtralConfig config_;
  PatchGeometry patches_;
  at::ScalarType dtype_;
  at::Device device_;
  Linear patch_embedding_;  // the convolution as a product
  RmsNorm first_norm_;
  std::vector<Layer> layers_;
};

}  // namespace winnow
