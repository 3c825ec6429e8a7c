// The definition of correct: block by block, summed in double.
#include "kernels/api/block_gemv.h"

#include "kernels/api/cuda_gemv.h"
#include "kernels/api/dense_gemv.h"
#include "kernels/reference/check_products.h"
#include "kernels/reference/element.h"

namespace winnow::kernels {

LaunchStatus block_gemv_reference(const BlockGemvArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  const std::int64_t block = block_elements(args.type);
  float values[kMaxBlockElements];
  for (std::int64_t row = args.begin; row < args.end; ++row) {
    const std::int64_t stored = args.row_of != nullptr ? args.row_of[row] : row;
    const auto* const blocks = static_cast<const char*>(args.matrix) + stored * row_bytes(args.type, args.columns);
    for (std::int64_t index = 0; index < args.inputs; ++index) {
      const float* const input = args.input + index * args.input_stride;
      const auto* from = blocks;
      double sum = 0.0;
      for (std::int64_t column = 0; column < args.columns; column += block, from += block_bytes(args.type)) {
        dequantise(args.type, from, block, values);
        for (std::int64_t i = 0; i < block; ++i) sum += static_cast<double>(values[i]) * static_cast<double>(input[column + i]);
      }
      args.output[index * args.output_stride + row] = static_cast<float>(sum);
    }
  }
  return LaunchStatus::kOk;
}

// The definition of correct: element by element, summed in double.
LaunchStatus dense_gemv_reference(const DenseGemvArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  for (std::int64_t row = args.begin; row < args.end; ++row) {
    const double added = args.added != nullptr ? static_cast<double>(args.added[row]) : 0.0;
    for (std::int64_t index = 0; index < args.inputs; ++index) {
      const float* const input = args.input + index * args.columns;
      double sum = added;
      for (std::int64_t i = 0; i < args.columns; ++i)
        sum += element(args.matrix, args.type, row * args.columns + i) * static_cast<double>(input[i]);
      args.output[index * args.output_stride + row] = static_cast<float>(sum);
    }
  }
  return LaunchStatus::kOk;
}

// The definition of correct, on host pointers: element by element, summed in double.
LaunchStatus cuda_gemv_reference(const CudaGemvArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  const auto sum_of = [&](std::int64_t row) {
    double sum = args.bias != nullptr ? element(args.bias, args.type, row) : 0.0;
    for (std::int64_t i = 0; i < args.columns; ++i)
      sum += element(args.matrix, args.type, row * args.columns + i) * element(args.input, args.type, i);
    return static_cast<float>(sum);
  };
  for (std::int64_t row = 0; row < args.rows; ++row) {
    if (!args.gated) {
      set_element(args.output, args.output_type, row, sum_of(row));
      continue;
    }
    float gate = 0.0F;  // room for an element of the type
    float up = 0.0F;
    float product = 0.0F;
    set_element(&gate, args.type, 0, sum_of(row));
    set_element(&up, args.type, 0, sum_of(args.rows + row));
    const LaunchStatus status = gated_activation_reference({*args.gated, args.type, &gate, &up, 1, 1, 1, &product});
    if (status != LaunchStatus::kOk) return status;
    set_element(args.output, args.type, row, static_cast<float>(element(&product, args.type, 0)));
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
