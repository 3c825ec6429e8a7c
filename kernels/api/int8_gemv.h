// int8 GEMV: a dot product of quantised activations with a quantised matrix (block_types.h). The vector is quantised to 8 bits with a scale
// per 32 elements; codes are multiplied with codes, scales with scales.
//
// Used by engine/layers in decode steps, with several inputs where several conversations share a step: the matrix is then read once, and
// each input's outputs are the same bits as with that input alone. Weights are used exactly; each input element is rounded by at most half
// of (its 32 elements' largest magnitude / 127), as in llama.cpp. Knows no framework. References are kernels/reference/int8_gemv.cpp, the
// vectorised CPU versions kernels/cpu. Never throws, never allocates; calls for separate output ranges are independent. kBadArgument: a
// missing pointer, a negative size, columns that are not a multiple of the type's block, or a type without an int8 GEMV.
#pragma once

#include <cstdint>

#include "kernels/api/block_types.h"
#include "kernels/api/element_type.h"

namespace winnow::kernels {

inline constexpr std::int64_t kQuantisedElements = 32;

// The scale of 32 elements: element = scale * code.
struct QuantisedScale {
  float scale = 0.0F;
  float sum = 0.0F;  // of the quantised elements
};

// An input in 8 bits. If one of 32 elements is not finite, their scale is NaN and their codes are 0.
struct QuantisedInput {
  const std::int8_t* codes = nullptr;      // [columns], from -127 to 127
  const QuantisedScale* scales = nullptr;  // [columns / 32]
  const float* half_sums = nullptr;        // [columns / 16]: of 16 quantised elements
  // [columns]: the codes of each whole 64, their second and third 16 in each other's place, as two blocks of 4-bit codes are unpacked.
  const std::int8_t* paired = nullptr;
};

struct RoundInputArgs {
  const float* input = nullptr;  // [columns]
  std::int64_t columns = 0;      // a multiple of 32
  std::int8_t* codes = nullptr;
  QuantisedScale* scales = nullptr;
  float* half_sums = nullptr;
  std::int8_t* paired = nullptr;
};

LaunchStatus round_input_reference(const RoundInputArgs& args);
// Equal to the reference to the bit.
LaunchStatus round_input_cpu(const RoundInputArgs& args);

// True for Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K, Q6_K, U4Z and U8Z: the types of usual files.
bool has_int8_gemv(BlockType type);

struct Int8GemvArgs {
  BlockType type = BlockType::kQ8_0;
  const void* matrix = nullptr;  // row-major, each row columns / block_elements blocks
  std::int64_t columns = 0;
  // Output i is the product with matrix row row_of[i]; null: row i.
  const std::int32_t* row_of = nullptr;
  std::int64_t begin = 0;  // outputs [begin, end) are computed
  std::int64_t end = 0;
  QuantisedInput input{};
  float* output = nullptr;         // [end]
  std::int64_t inputs = 1;         // further ones lie behind the first
  std::int64_t input_bytes = 0;    // from what an input has to what the next one has
  std::int64_t output_stride = 0;  // from an input's outputs to the next one's

  QuantisedInput input_at(std::int64_t index) const {
    const auto moved = [&]<class Number>(const Number* from) {
      return reinterpret_cast<const Number*>(reinterpret_cast<const char*>(from) + index * input_bytes);
    };
    return {moved(input.codes), moved(input.scales), moved(input.half_sums), moved(input.paired)};
  }
};

LaunchStatus int8_gemv_reference(const Int8GemvArgs& args);
// Picks the widest instruction set at run time; equals the reference up to the rounding of sums in fp32.
LaunchStatus int8_gemv_cpu(const Int8GemvArgs& args);

}  // namespace winnow::kernels
