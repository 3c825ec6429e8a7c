// A vector times a matrix whose numbers are stored in blocks (block_types.h), in integers: the vector is rounded to eight bits for every 32
// elements, codes are multiplied with codes, and scales with scales.
//
// Used by engine/layers for the products of a decode step. The matrix's values are not changed; what is rounded is the input: each element
// by at most half of its 32's largest magnitude / 127 (llama.cpp computes these products the same way). Knows no framework. References are
// kernels/reference/int8_gemv.cpp, the vectorised CPU versions kernels/cpu. Never throws, never allocates; calls on parts of the
// outputs are independent of each other. kBadArgument: a missing pointer, a negative size, columns that are no multiple of the type's
// block, or a type without such a product.
#pragma once

#include <cstdint>

#include "kernels/api/block_types.h"
#include "kernels/api/element_type.h"

namespace winnow::kernels {

inline constexpr std::int64_t kQuantisedElements = 32;

// 32 elements: each is about scale * code, all of them sum.
struct QuantisedScale {
  float scale = 0.0F;
  float sum = 0.0F;  // of the rounded elements
};

// An input in eight bits. What is not finite makes its 32's scale NaN and their codes 0.
struct QuantisedInput {
  const std::int8_t* codes = nullptr;      // [columns], from -127 to 127
  const QuantisedScale* scales = nullptr;  // [columns / 32]
  const float* half_sums = nullptr;        // [columns / 16]: of 16 rounded elements
};

struct RoundInputArgs {
  const float* input = nullptr;  // [columns]
  std::int64_t columns = 0;      // a multiple of 32
  std::int8_t* codes = nullptr;
  QuantisedScale* scales = nullptr;
  float* half_sums = nullptr;
};

LaunchStatus round_input_reference(const RoundInputArgs& args);
// Equal to the reference to the bit.
LaunchStatus round_input_cpu(const RoundInputArgs& args);

// Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K, Q6_K, U4Z and U8Z: what files are made of.
bool has_int8_gemv(BlockType type);

struct Int8GemvArgs {
  BlockType type = BlockType::kQ8_0;
  const void* matrix = nullptr;  // rows one after the other, each columns / block_elements blocks
  std::int64_t columns = 0;
  // Row i of the product is row row_of[i] of the matrix; null: row i.
  const std::int32_t* row_of = nullptr;
  std::int64_t begin = 0;  // rows [begin, end) of the product
  std::int64_t end = 0;
  QuantisedInput input{};
  float* output = nullptr;  // [end]: of row i at [i]
};

LaunchStatus int8_gemv_reference(const Int8GemvArgs& args);
// Chooses the widest instruction set at run time; equal to the reference up to the rounding of sums in fp32.
LaunchStatus int8_gemv_cpu(const Int8GemvArgs& args);

}  // namespace winnow::kernels
