// One row times a matrix of numbers, as a decode step multiplies: at the speed at which memory is read. libtorch's product of one row reads
// a matrix of 16-bit numbers at a third of that.
//
// Used by engine/layers/linear_weight.h. On the CPU. Threads: engine thread (runs on the work team inside).
#pragma once

#include <ATen/ATen.h>

namespace winnow {

// Whether row_product() has it: input [..., in] of one row, matrix [out, in] contiguous, both on the CPU, of one type out of fp32, bf16,
// fp16.
bool has_row_product(const at::Tensor& input, const at::Tensor& matrix);

// bias: [out], contiguous, or undefined; type: of the result, fp32, bf16 or fp16. Returns [..., out]; nothing but the sum is rounded, once.
// Allocates nothing but the result.
at::Tensor row_product(const at::Tensor& input, const at::Tensor& matrix, const at::Tensor& bias, at::ScalarType type);

}  // namespace winnow
