// GEMV with a dense matrix on an NVIDIA GPU, for decode steps, at memory bandwidth.
//
// Used by engine/layers (through engine/cuda_plugin); implemented in kernels/cuda/gemv.cu. Every element is upcast to fp32; sums are fp32
// and always in the same order: the same inputs give the same bits. The bias is added to the sum, which is rounded once. A gated matrix
// holds gate and up rows, as a feed-forward block's first GEMV; the output is then kernels/api/gated_activation.h of both rounded sums.
// Pointers are device memory. The matrix and the bias are constant: they may be read before earlier launches have ended. Never throws,
// never allocates, does not wait for the device. kBadArgument: a missing pointer, a matrix or input that is not aligned to kGemvAlignment,
// a size below 1, rows of the matrix that are not a multiple of kGemvAlignment bytes, an unknown type or activation, an output type that is
// neither the input's nor, ungated, fp32. kUnsupported: more than the limits. kDeviceError: the launch failed.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/api/element_type.h"
#include "kernels/api/gated_activation.h"

namespace winnow::kernels {

inline constexpr std::int64_t kGemvAlignment = 16;           // bytes, of the input and of every row of the matrix
inline constexpr std::int64_t kMaxGemvSide = 1'000'000'000;  // rows and columns are counted in 32 bits

struct CudaGemvArgs {
  ElementType type = ElementType::kFp32;  // of matrix, input and bias
  const void* matrix = nullptr;           // [rows, columns], contiguous; gated: [2 * rows, columns], the gates first
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  const void* input = nullptr;  // [columns]
  const void* bias = nullptr;   // one value a matrix row, or null
  ElementType output_type = ElementType::kFp32;
  void* output = nullptr;  // [rows]; not the input
  std::optional<Activation> gated;
};

// All pointers host memory.
LaunchStatus cuda_gemv_reference(const CudaGemvArgs& args);
// stream: a cudaStream_t; the null pointer is the default stream.
LaunchStatus cuda_gemv(const CudaGemvArgs& args, void* stream);

}  // namespace winnow::kernels
