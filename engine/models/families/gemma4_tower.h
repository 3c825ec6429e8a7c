// Gemma 4's vision transformer: rows of patches of pictures of one size in, an embedding for each soft token out.
//
// Used by gemma4.cpp. Follows transformers' Gemma4VisionModel and Gemma4MultimodalEmbedder: a patch's place is the sum of its column's and
// its row's entries of a table; half of a head rotates by the column, the other half by the row; queries, keys and values are normalised
// and attention is not scaled; four norms and a gated MLP a layer; the mean of a token's patches times the root of the hidden size, a norm
// without weights, a projection. A patch attends only to its own picture. Bounds (use_clipped_linears) are cut to in the products'
// inputs and outputs; they may be infinite. Dtype fp32, bf16 or (on a GPU) fp16; pooling in fp32. Threads: engine thread; methods need
// c10::InferenceMode. Errors: kDamagedFile naming the tensor; Interrupted.
#pragma once

#include <ATen/ATen.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/interrupt.h"
#include "engine/layers/linear.h"
#include "engine/layers/norm.h"
#include "engine/layers/rotary.h"
#include "engine/models/families/gemma4_folder.h"
#include "engine/models/vision/vision_judge.h"
#include "engine/models/weights/weight_reader.h"

namespace winnow {

// Gemma 4 12B's replacement of a vision transformer: a row of pixels of each soft token in, its embedding out. Follows transformers'
// Gemma4UnifiedVisionEmbedder: layer norm, a product, layer norm, the sum of its column's and its row's entries of a table, layer norm; an
// RMS norm without weights, the projection. Patches do not see each other, so there is no attention that could judge them. Dtype fp32, bf16
// or (on a GPU) fp16.

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

struct SoftTokens {
  at::Tensor features;      // [pictures, tokens, text hidden], tokens row by row
  at::Tensor importance{};  // fp32 [pictures, tokens], mean of a token's patches; undefined without a judge
};

class Gemma4Tower {
 public:
  // Patches that go through a layer at a time, in whole pictures: a large picture is more. Within one, rows go in tiles; an interrupt is
  // polled per tile.
  static constexpr std::int64_t kPatchesPerBlock = 4096;
  static constexpr std::int64_t kTileRows = 1024;

  // Tensors are below "tower." and "embed.".
  Gemma4Tower(const Gemma4Vision& config, std::int64_t text_hidden, WeightReader& weights);

  // patches: fp32 [pictures * patches, patch * patch * 3] as soft_token_patches() makes them, on any device.
  SoftTokens encode(const at::Tensor& patches, const TokenGrid& grid, std::optional<VisionJudge> judge,
                    const InterruptToken& interrupt) const;

 private:
  struct Bounds {
    double least;
    double most;
  };
  struct Product {
    Linear linear;
    std::optional<Bounds> input;
    std::optional<Bounds> output;
    at::Tensor operator()(const at::Tensor& rows) const;
  };
  struct Layer {
    RmsNorm attention_norm;
    std::array<Product, 3> qkv;
    RmsNorm query_norm;
    RmsNorm key_norm;
    RmsNorm value_norm;
    Product output;
    RmsNorm attention_out_norm;
    RmsNorm mlp_norm;
    Product gate;
    Product up;
    Product down;
    RmsNorm mlp_out_norm;
  };
  // For all pictures of one size.
  struct Layout {
    TokenGrid grid;
    at::Tensor positions;  // [patches, hidden]
    RotaryAngles angles;   // [patches, 1, head_dim / 2]
  };
  struct QueryKey {
    at::Tensor query;  // [pictures, heads, patches, d]
    at::Tensor key;
  };

  // row_of: the stored row of each; empty: in order.
  Product read_product(WeightReader& weights, const std::string& prefix, std::array<std::int64_t, 2> out_in,
                       std::vector<std::int64_t> row_of = {}) const;
  Layer read_layer(WeightReader& weights, const std::string& prefix) const;
  Layout layout_of(const TokenGrid& grid) const;
  // hidden: [pictures, patches, hidden], replaced in place.
  QueryKey run_layer(const Layer& layer, const Layout& layout, at::Tensor& hidden, const InterruptToken& interrupt) const;
  SoftTokens encode_block(const at::Tensor& patches, const Layout& layout, std::optional<VisionJudge> judge,
                          const InterruptToken& interrupt) const;
  // The mean of each token's patches: [pictures, patches, channels] -> [pictures, tokens, channels].
  at::Tensor pooled(const at::Tensor& of_patches, const TokenGrid& grid) const;

  Gemma4Vision config_;
  at::ScalarType dtype_;
  at::Device device_;
  Linear patch_embedding_;
  at::Tensor positions_;  // [2, positions, hidden]: of columns, of rows
  std::vector<Layer> layers_;
  at::Tensor bias_;  // [hidden]; both only if standardised
  at::Tensor scale_;
  RmsNorm token_norm_;
  Linear projection_;
};

}  // namespace winnow
