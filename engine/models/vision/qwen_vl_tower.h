// The vision transformer of Qwen2-VL, Qwen2.5-VL, Qwen3-VL and GLM-4V: rows of patches of pictures of one size in, one embedding for each
// cell out.
//
// Used by qwen2_vl.cpp and qwen3_vl.cpp, the second for GLM-4V, too. Queries and keys are rotated by a patch's row and column. A patch
// attends only to its own picture (a set of joined frames); in most layers of Qwen2.5-VL only to a window of it. Follows
// Qwen2VisionTransformerPretrainedModel, Qwen2_5_VisionTransformerPretrainedModel, Qwen3VLVisionModel and Glm4vVisionModel: RMS norms and
// gated MLPs in the second and the last, layer norms and plain MLPs in the others. The merger makes one token of a cell's patches. Qwen3-VL
// and GLM-4V have a position table, interpolated over the picture; the first also mergers after some layers for deepstack features, the
// second a merger of its own (DownsamplingMerger). Rotation is done in fp32, as there. Dtype fp32, bf16 or (on a GPU) fp16. Threads:
// engine thread; methods need c10::InferenceMode. Errors: kDamagedFile naming the tensor; Interrupted.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/base/interrupt.h"
#include "engine/layers/linear.h"
#include "engine/layers/mlp.h"
#include "engine/layers/norm.h"
#include "engine/layers/rotary.h"
#include "engine/models/vision/patch_grid.h"
#include "engine/models/vision/qwen_vision_config.h"
#include "engine/models/vision/vision_judge.h"
#include "engine/models/weights/weight_reader.h"
#include "engine/vision/pixel_values.h"

namespace winnow {

// GLM-4V's merger of a cell's patches into one token: a convolution over them, and an MLP behind a norm of its own. Read and used by
// qwen_vl_tower.h. Follows Glm4vVisionModel's post_layernorm and downsample, and Glm4vVisionPatchMerger.

struct DownsamplingMerger {
  std::int64_t cell_patches = 0;
  RmsNorm last_norm;        // of the tower's patches
  Linear downsample{};      // [out, cell_patches * hidden], the convolution as a product
  Linear projection{};      // [out, out]
  LayerNorm merger_norm{};  // of the projected cells, before GELU
  GatedMlp mlp{};

  // hidden: [pictures, patches, hidden], cell by cell, within a cell row by row. Returns [pictures, cells, out].
  at::Tensor operator()(const at::Tensor& hidden) const;
};

// prefix: "visual.".
DownsamplingMerger read_downsampling_merger(const QwenVisionConfig& config, WeightReader& weights, const std::string& prefix);

struct CellFeatures {
  at::Tensor features;      // [pictures, cells, out_size * (1 + deepstack layers)], cells row by row
  at::Tensor importance{};  // fp32 [pictures, cells], mean of a cell's patches; undefined without a judge
};

class QwenVlTower {
 public:
  // Patches that go through a layer at a time, in whole pictures: a large picture is more. Within one, rows go in tiles; an interrupt is
  // polled per tile.
  static constexpr std::int64_t kPatchesPerBlock = 4096;
  static constexpr std::int64_t kTileRows = 1024;

  // prefix: "visual.".
  QwenVlTower(const QwenVisionConfig& config, WeightReader& weights, const std::string& prefix);

  // pixels: fp32 [pictures * patches, 3 * joined_frames * patch * patch] as patch_rows() makes them, on any device. Of kept cells alone, if
  // some are not: they see each other where they lie in the whole picture; the others have features and importance 0, kept ones
  // importance 1. Requires a tower without windows for that, and no judge.
  CellFeatures encode(const PixelValues& pixels, const CellGrid& grid, std::optional<VisionJudge> judge,
                      const InterruptToken& interrupt) const;

 private:
  enum class CellNorm : int { kOfPatches = 1, kOfCells = 2 };
  // Makes one token of a cell's patches; GLM-4V has a DownsamplingMerger instead.
  struct Merger {
    CellNorm place = CellNorm::kOfPatches;  // what its norm is taken of
    std::variant<LayerNorm, RmsNorm> norm;
    PlainMlp mlp;
  };
  struct Layer {
    std::variant<LayerNorm, RmsNorm> attention_norm;
    Linear qkv;
    Linear output;
    std::variant<LayerNorm, RmsNorm> mlp_norm;
    std::variant<PlainMlp, GatedMlp> mlp;
    bool windowed = false;
    std::optional<Merger> deepstack;  // of this layer's features
  };
  // For all pictures of one size: the order of cells, attention windows, and rotations.
  struct Layout {
    CellGrid grid;
    WindowOrder windows;  // in patches; one group is the whole picture
    WindowGroup whole{};
    RotaryAngles angles{};   // fp32 [patches, 1, head_dim / 2]
    at::Tensor positions{};  // [patches, hidden]; undefined without a position table
  };
  struct Rotated {
    at::Tensor query_key;  // [pictures, patches, 2, heads, d]
    bool windowed = false;
  };

  Layer read_layer(WeightReader& weights, const std::string& prefix, std::int64_t index) const;
  at::Tensor read_patch_kernel(WeightReader& weights, const std::string& prefix) const;
  Linear read_qkv(WeightReader& weights, const std::string& prefix) const;
  std::variant<LayerNorm, RmsNorm> read_norm(WeightReader& weights, const std::string& prefix) const;
  Merger read_merger(WeightReader& weights, const std::string& prefix, CellNorm place) const;
  // hidden: [pictures, patches, hidden]. Returns [pictures, cells, out_size].
  at::Tensor merged(const Merger& merger, const at::Tensor& hidden) const;
  at::Tensor merged(const DownsamplingMerger& merger, const at::Tensor& hidden) const { return merger(hidden); }
  // The position table over the picture, [patches, hidden], linear or bicubic. places: int64 [patches, 2], row and column.
  at::Tensor stretched_positions(const CellGrid& grid, const at::Tensor& places) const;
  at::Tensor curved_positions(const CellGrid& grid, const at::Tensor& places) const;
  Layout layout_of(const CellGrid& grid) const;
  CellFeatures encode_kept(const at::Tensor& pictures, const Layout& layout, const std::vector<bool>& kept,
                           const InterruptToken& interrupt) const;
  CellFeatures encode_block(const at::Tensor& patches, const Layout& layout, std::optional<VisionJudge> judge,
                            const InterruptToken& interrupt) const;
  // hidden: [pictures, patches, hidden], replaced in place.
  Rotated run_layer(const Layer& layer, const Layout& layout, at::Tensor& hidden, const InterruptToken& interrupt) const;
  std::vector<WindowGroup> groups_of(bool windowed, const Layout& layout) const;
  // weights: fp32 [pictures, patches].
  at::Tensor through_layer(const at::Tensor& weights, const Rotated& rotated, const Layout& layout) const;

  QwenVisionConfig config_;
  at::ScalarType dtype_;
  at::Device device_;
  Linear patch_embedding_;             // the convolution as a product
  std::optional<RmsNorm> patch_norm_;  // of GLM-4V
  std::vector<Layer> layers_;
  at::Tensor position_table_;  // [side * side, hidden]; of Qwen3-VL and GLM-4V
  std::variant<Merger, DownsamplingMerger> merger_;
};

}  // namespace winnow
