// GEMV with a dense matrix for decode steps, at memory bandwidth. On a CPU, libtorch's product of one row reads a 16-bit matrix at a third
// of that; on a GPU it needs a second launch to add up the parts of small ones. On a CPU a few rows read the matrix once, and each gets the
// bits that it gets alone.
//
// Used by engine/layers/linear_weight.h. Errors: kDeviceFailed if a GPU cannot launch it. Threads: engine thread (on the CPU, runs on the
// work team inside).
#pragma once

#include <ATen/ATen.h>

#include "engine/layers/activation.h"

namespace winnow {

// True if gemv() supports it: input [..., in] of one row, on a CPU of up to kFewRows; matrix [out, in] contiguous, both on one device and
// of one type (fp32, bf16 or fp16); on a GPU rows are a multiple of 16 bytes (kernels/api/cuda_gemv.h).
bool has_gemv(const at::Tensor& input, const at::Tensor& matrix);

// bias: [out], contiguous, on a GPU of the matrix's type, or undefined. type: of the result, the matrix's or fp32. Returns [..., out]. Only
// the sum is rounded, once; only the result is allocated.
at::Tensor gemv(const at::Tensor& input, const at::Tensor& matrix, const at::Tensor& bias, at::ScalarType type);

// On a GPU, if has_gemv(): matrix and bias hold gate rows, then as many up rows. Returns [..., out / 2]: activation(gate), rounded to the
// type, times up, in one launch.
at::Tensor gated_gemv(const at::Tensor& input, const at::Tensor& matrix, const at::Tensor& bias, Activation activation);

}  // namespace winnow
