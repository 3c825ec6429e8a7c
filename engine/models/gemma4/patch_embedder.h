// Gemma 4 12B's replacement of a vision transformer: a row of pixels of each soft token in, its embedding out.
//
// Used by gemma4.h. Follows transformers' Gemma4UnifiedVisionEmbedder: layer norm, a product, layer norm, the sum of its column's and its
// row's entries of a table, layer norm; an RMS norm without weights, the projection. Patches do not see each other, so there is no
// attention that could judge them. Dtype fp32, bf16 or (on a GPU) fp16. Threads: engine thread; methods need c10::InferenceMode. Errors:
// kDamagedFile naming the tensor; Interrupted.
#pragma once

#include <ATen/ATen.h>

#include "engine/base/interrupt.h"
#include "engine/layers/linear.h"
#include "engine/layers/norm.h"
#include "engine/models/gemma4/gemma4_folder.h"
#include "engine/models/weight_reader.h"

namespace winnow {

class Gemma4PatchEmbedder {
 public:
  // Rows that go through at a time; an interrupt is polled before each such block.
  static constexpr std::int64_t kTileRows = 1024;

  // Tensors are below "tower." and "embed.".
  Gemma4PatchEmbedder(const Gemma4Patches& config, std::int64_t text_hidden, WeightReader& weights);

  // patches: fp32 [pictures * tokens, (patch * pooled)^2 * 3], row by row of each picture, on any device. Returns
  // [pictures, tokens, text hidden].
  at::Tensor encode(const at::Tensor& patches, const TokenGrid& grid, const InterruptToken& interrupt) const;

 private:
  at::ScalarType dtype_;
  at::Device device_;
  LayerNorm pixel_norm_;
  Linear dense_;
  LayerNorm patch_norm_;
  at::Tensor positions_;  // [positions, 2, hidden]: of columns, of rows
  LayerNorm position_norm_;
  RmsNorm token_norm_;
  Linear projection_;
};

}  // namespace winnow
