// One row times a matrix of numbers, as a decode step multiplies: at the speed at which memory is read. libtorch's product of one row reads
// a matrix of 16-bit numbers at a third of that on a CPU; on a GPU it takes a second launch to add parts of small ones up.
//
// Used by engine/layers/linear_weight.h. Errors: kDeviceFailed where a GPU cannot launch it. Threads: engine thread (on the CPU, runs on
// the work team inside).
#pragma once

#include <ATen/ATen.h>

#include "engine/layers/activation.h"

namespace winnow {

// Whether gemv() has it: input [..., in] of one row, matrix [out, in] contiguous, both on one device, of one type out of fp32, bf16,
// fp16; on a GPU rows that are whole pieces of 16 bytes (kernels/api/cuda_gemv.h).
bool has_gemv(const at::Tensor& input, const at::Tensor& matrix);

// bias: [out], contiguous, on a GPU of the matrix's type, or undefined; type: of the result, the matrix's or fp32. Returns [..., out];
// nothing but the sum is rounded, once. Allocates nothing but the result.
at::Tensor gemv(const at::Tensor& input, const at::Tensor& matrix, const at::Tensor& bias, at::ScalarType type);

// On a GPU, where has_gemv(): matrix and bias have gates, then as many rows that they weigh. Returns [..., out / 2]:
// activation(gate), rounded to the type, times the other, in one launch.
at::Tensor gated_gemv(const at::Tensor& input, const at::Tensor& matrix, const at::Tensor& bias, Activation activation);

}  // namespace winnow
