// MiniCPM-V's vision transformer and merger: patches of pictures of one size in, one text embedding for each cell out.
//
// Used by minicpmv.cpp. A SigLIP whose positions are those of a square table at a patch's fractions of its picture. All patches of a
// picture attend to each other. Where a token stands for 16 patches, squares of two patches a side attend to each other behind one layer
// and become one; where it stands for four, they do not. At the end squares of two a side become tokens. Follows transformers'
// MiniCPMV4_6VisionModel and MiniCPMV4_6Merger. Dtype fp32, bf16 or (on a GPU) fp16. Threads: engine thread; methods need
// c10::InferenceMode. Errors: kDamagedFile naming the tensor; Interrupted.
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <string>
#include <vector>

#include "engine/base/interrupt.h"
#include "engine/layers/linear.h"
#include "engine/layers/mlp.h"
#include "engine/layers/norm.h"
#include "engine/models/families/minicpmv_folder.h"
#include "engine/models/vision/patch_grid.h"
#include "engine/models/vision/vision_judge.h"
#include "engine/models/weights/weight_reader.h"

namespace winnow {

struct MergedCells {
  at::Tensor features;    // [pictures, cells, text hidden], cells row by row
  at::Tensor importance;  // fp32 [pictures, cells], mean of what a cell is merged of; undefined without a judge
};

class MiniCpmVTower {
 public:
  // Patches that go through a layer at a time, in whole pictures: a large picture is more. Within one, rows go in tiles; an interrupt is
  // polled per tile.
  static constexpr std::int64_t kPatchesPerBlock = 4096;
  static constexpr std::int64_t kTileRows = 1024;

  // Tensors are below "tower." and "merger.".
  MiniCpmVTower(const MiniCpmVVision& config, std::int64_t text_hidden, WeightReader& weights);

  // patches: fp32 [pictures * patches, 3 * patch * patch], row by row, colours outermost, on any device. cells: of a picture. joined:
  // patches along a cell's side, 2 or 4. The judge sees the layers behind the one that joins patches.
  MergedCells encode(const at::Tensor& patches, const CellGrid& cells, std::int64_t joined, std::optional<VisionJudge> judge,
                     const InterruptToken& interrupt) const;

 private:
  struct Attention {
    LayerNorm norm;
    Linear qkv;
    Linear output;
  };
  struct Layer {
    Attention attention;
    LayerNorm mlp_norm;
    PlainMlp mlp;
  };
  // Weights of an MLP over the channels of four patches side by side.
  struct Joint {
    LayerNorm norm;
    PlainMlp mlp;
  };
  // For all pictures of one size.
  struct Layout {
    std::int64_t joined = 4;
    at::Tensor order;      // int64 [patches]: cell by cell, within a cell square by square
    at::Tensor positions;  // [patches, hidden], in that order
  };

  Attention read_attention(WeightReader& weights, const std::string& prefix, const std::string& norm) const;
  Layer read_layer(WeightReader& weights, const std::string& prefix) const;
  Layout layout_of(const CellGrid& cells, std::int64_t joined) const;
  // Adds the attention to hidden [sequences, rows, hidden] in place. Returns its queries, keys and values, [sequences, rows, 3, heads, d].
  at::Tensor attend(const Attention& attention, at::Tensor& hidden, const InterruptToken& interrupt) const;
  at::Tensor run_layer(const Layer& layer, at::Tensor& hidden, const InterruptToken& interrupt) const;
  // [pictures, patches, hidden] -> [pictures, patches / 4, hidden]
  at::Tensor squares_joined(at::Tensor hidden, const InterruptToken& interrupt) const;
  MergedCells encode_block(const at::Tensor& patches, const Layout& layout, std::optional<VisionJudge> judge,
                           const InterruptToken& interrupt) const;

  MiniCpmVVision config_;
  at::ScalarType dtype_;
  at::Device device_;
  Linear patch_embedding_;  // the convolution as a product
  at::Tensor positions_;    // [table_side * table_side, hidden]
  std::vector<Layer> layers_;
  Attention square_attention_;
  Joint square_;
  LayerNorm last_norm_;
  Joint merger_;
};

}  // namespace winnow
