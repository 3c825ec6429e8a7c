// A vector times a matrix of numbers: every element is upcast to fp32 and multiplied there, so that nothing but the sum is rounded.
//
// Used by engine/layers for the products of a decode step, which take as long as the matrix takes to be read. Knows no framework. The
// reference is kernels/reference/dense_gemv.cpp, the vectorised CPU version kernels/cpu. Never throws, never allocates; calls on
// parts of the outputs are independent of each other. kBadArgument: a missing pointer, a negative size or an unknown element type.
#pragma once

#include <cstdint>

#include "kernels/api/element_type.h"

namespace winnow::kernels {

struct DenseGemvArgs {
  ElementType type = ElementType::kFp32;
  const void* matrix = nullptr;  // [end, columns], contiguous
  std::int64_t columns = 0;
  std::int64_t begin = 0;  // rows [begin, end) of the product
  std::int64_t end = 0;
  const float* input = nullptr;  // [columns]
  const float* added = nullptr;  // [end]: what each row's sum begins with, or null; may be the output
  float* output = nullptr;       // [end]: of row i at [i]
};

LaunchStatus dense_gemv_reference(const DenseGemvArgs& args);
// Chooses the widest instruction set at run time; equal to the reference up to rounding.
LaunchStatus dense_gemv_cpu(const DenseGemvArgs& args);

}  // namespace winnow::kernels
