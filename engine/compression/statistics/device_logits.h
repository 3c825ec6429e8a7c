// A layer's queries and keys as arguments of statistics kernels (kernels/api/cuda_logits.h). Used by the files of this folder.
#pragma once

#include <ATen/ATen.h>

#include "engine/layers/layer_view.h"
#include "kernels/api/cuda_logits.h"

namespace winnow {

// True if our kernels support this view: on the CPU or a GPU, fp32, bf16 or fp16, few enough heads and elements. The CPU has only column
// sums.
bool fits_kernels(const LayerView& view);

// Makes the rows contiguous if they are not.
at::Tensor with_packed_rows(const at::Tensor& tensor);

// query: [H, rows, d], key: [Hkv, columns, d], both with contiguous rows, which must outlive the launch.
void set_logits(kernels::CudaLogits& to, const at::Tensor& query, const at::Tensor& key, double scale);

}  // namespace winnow
