// GLM-4V's merger of a cell's patches into one token: a convolution over them, and an MLP behind a norm of its own.
//
// Read and used by qwen_vl_tower.h. Follows Glm4vVisionModel's post_layernorm and downsample, and Glm4vVisionPatchMerger. Threads: engine
// thread. Errors: kDamagedFile naming the tensor.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>

#include "engine/layers/linear.h"
#include "engine/layers/mlp.h"
#include "engine/layers/norm.h"
#include "engine/models/qwen_vl_parts/qwen_vision_config.h"
#include "engine/models/weight_reader.h"

namespace winnow {

struct DownsamplingMerger {
  std::int64_t cell_patches = 0;
  RmsNorm last_norm;      // of the tower's patches
  Linear downsample;      // [out, cell_patches * hidden], the convolution as a product
  Linear projection;      // [out, out]
  LayerNorm merger_norm;  // of the projected cells, before GELU
  GatedMlp mlp;

  // hidden: [pictures, patches, hidden], cell by cell, within a cell row by row. Returns [pictures, cells, out].
  at::Tensor operator()(const at::Tensor& hidden) const;
};

// prefix: "visual.".
DownsamplingMerger read_downsampling_merger(const QwenVisionConfig& config, WeightReader& weights, const std::string& prefix);

}  // namespace winnow
