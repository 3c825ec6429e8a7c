// A vision transformer (SigLIP, SigLIP 2, CLIP or InternViT): frames, tiles or pictures in their own proportions in, hidden states of
// selected layers out.
//
// Used by the LLaVA families, smolvlm/, internvl/, gemma3/ and lfm2/. Layers after the last selected one are neither read nor run. The
// tower's last norm is left to the callers; its pooling head is never used. A class token comes before the patches, in features and
// importance. Dtype fp32, bf16 or (on a GPU) fp16. Threads: engine thread; methods need c10::InferenceMode. Errors: kDamagedFile naming the
// tensor; Interrupted.
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <string>
#include <vector>

#include "engine/base/interrupt.h"
#include "engine/layers/linear.h"
#include "engine/layers/mlp.h"
#include "engine/layers/norm.h"
#include "engine/models/config/vit_config.h"
#include "engine/models/vision/vision_judge.h"
#include "engine/models/weights/weight_reader.h"

namespace winnow {

struct TowerFeatures {
  at::Tensor features;    // [frames, tokens, hidden * feature_states]: the class token if there is one, patches row by row
  at::Tensor importance;  // fp32 [frames, tokens]; undefined without a judge
};

class VitTower {
 public:
  // Frames per batch; an interrupt is polled per layer of a batch.
  static constexpr std::int64_t kFramesPerBlock = 8;

  // feature_states: 0 = before the first layer, k = after layer k; not empty, each at most config.layers. prefix:
  // "vision_tower.vision_model.".
  VitTower(const VitConfig& config, std::vector<std::int64_t> feature_states, WeightReader& weights, const std::string& prefix);

  // Rows of pictures in their own proportions (VitConfig::native_sizes).
  struct PatchRows {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t patches() const { return rows * columns; }
  };
  // Patches that go through a layer at a time, in whole pictures.
  static constexpr std::int64_t kPatchesPerBlock = 8192;

  // pixels: fp32 [frames, 3, side, side], on any device.
  TowerFeatures encode(const at::Tensor& pixels, std::optional<VisionJudge> judge, const InterruptToken& interrupt) const;
  // patches: fp32 [pictures, patches, 3 * patch * patch] of pictures of one size, row by row, on any device; colours outermost.
  TowerFeatures encode_patches(const at::Tensor& patches, const PatchRows& grid, std::optional<VisionJudge> judge,
                               const InterruptToken& interrupt) const;

 private:
  struct Layer {
    Norm attention_norm;
    Linear qkv;
    RmsNorm query_norm{};  // over all heads; query and key norm only if configured
    RmsNorm key_norm{};
    Linear output{};
    at::Tensor attention_scale{};  // [hidden]; both scales only if configured
    Norm mlp_norm{};
    PlainMlp mlp{};
    at::Tensor mlp_scale{};
  };
  void read_embeddings(WeightReader& weights, const std::string& prefix);
  at::Tensor read_positions(WeightReader& weights, const std::string& name) const;
  Linear read_query_key_value(WeightReader& weights, const std::string& prefix) const;
  Layer read_layer(WeightReader& weights, const std::string& prefix) const;
  // hidden: [frames, tokens, hidden], embedded.
  TowerFeatures encode_block(at::Tensor hidden, std::optional<VisionJudge> judge, const InterruptToken& interrupt) const;
  at::Tensor positions_of(const PatchRows& grid) const;
  at::Tensor embed(const at::Tensor& pixels) const;
  // [frames, tokens, 3, heads, d], in place.
  void normalise_heads(const Layer& layer, at::Tensor& qkv) const;
  // Returns the layer's queries, keys and values, [frames, tokens, 3, heads, d].
  at::Tensor run_layer(const Layer& layer, at::Tensor& hidden) const;
  // Weights of the attention rows that score the patches: the class token's row, or all rows equally. fp32 [frames, tokens].
  at::Tensor judging_rows(const at::Tensor& hidden) const;
  // weights [frames, tokens] fp32 times the head mean of the layer's attention: [frames, tokens].
  at::Tensor through_layer(const at::Tensor& weights, const at::Tensor& qkv) const;

  VitConfig config_;
  std::vector<std::int64_t> feature_states_;
  Linear patch_embedding_;         // [hidden, 3 * patch * patch]: the convolution as a GEMM
  at::Tensor class_embedding_;     // [hidden]; undefined without a class token
  at::Tensor position_embedding_;  // [tokens, hidden]; of native sizes the whole table
  LayerNorm first_norm_;           // before the layers, if configured
  std::vector<Layer> layers_;
};

}  // namespace winnow
