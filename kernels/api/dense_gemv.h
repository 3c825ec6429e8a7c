// GEMV with a dense matrix: every element is upcast to fp32 and multiplied with the fp32 input; only the sum is rounded.
//
// Used by engine/layers in decode steps, whose time is that of reading the matrix, with several inputs where several conversations share a
// step: each input's outputs are the same bits as with that input alone. Knows no framework. The reference is kernels/reference/gemv.cpp,
// the vectorised CPU version kernels/cpu. Never throws, never allocates; calls for separate output ranges are independent. kBadArgument: a
// missing pointer, a negative size or an unknown element type.
#pragma once

#include <cstdint>

#include "kernels/api/element_type.h"

namespace winnow::kernels {

struct DenseGemvArgs {
  ElementType type = ElementType::kFp32;
  const void* matrix = nullptr;  // [end, columns], contiguous
  std::int64_t columns = 0;
  std::int64_t begin = 0;  // outputs [begin, end) are computed
  std::int64_t end = 0;
  const float* input = nullptr;  // [inputs, columns]
  const float* added = nullptr;  // [end], initial value of each sum, or null; may be the first input's output
  float* output = nullptr;       // [end]
  std::int64_t inputs = 1;
  std::int64_t output_stride = 0;  // from an input's outputs to the next one's
};

LaunchStatus dense_gemv_reference(const DenseGemvArgs& args);
// Picks the widest instruction set at run time; equals the reference up to rounding.
LaunchStatus dense_gemv_cpu(const DenseGemvArgs& args);

}  // namespace winnow::kernels
