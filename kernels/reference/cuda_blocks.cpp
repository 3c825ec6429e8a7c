// The definition of correct for quantised matrices on a GPU, on host pointers: block by block, products summed in double.
#include <cstddef>
#include <cstdint>

#include "kernels/api/cuda_block_gemv.h"
#include "kernels/api/cuda_block_layout.h"
#include "kernels/api/cuda_dequantise_rows.h"
#include "kernels/reference/check_products.h"
#include "kernels/reference/element.h"

namespace winnow::kernels {
namespace {

constexpr std::size_t kMaxBlockBytes = 256;

// One row of the matrix, a block at a time: visit(first column, values of the block).
template <class Args, class Visit>
void each_block(const Args& args, std::int64_t row, const Visit& visit) {
  const std::int64_t elements = block_elements(args.type);
  const std::int64_t stored_row = args.row_of != nullptr ? args.row_of[row] : row;
  const auto planes = cuda_row_planes(args.matrix, args.type, args.rows, args.columns, stored_row);
  std::uint8_t stored[kMaxBlockBytes];
  float values[kMaxBlockElements];
  for (std::int64_t block = 0; block < args.columns / elements; ++block) {
    stored_block(args.type, planes, args.columns, block, stored);
    dequantise(args.type, stored, elements, values);
    visit(block * elements, values);
  }
}

}  // namespace

LaunchStatus cuda_block_gemv_reference(const CudaBlockGemvArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  const std::int64_t block = block_elements(args.type);
  for (std::int64_t row = 0; row < args.rows; ++row) {
    double sums[kMaxCudaProductInputs] = {};
    each_block(args, row, [&](std::int64_t column, const float* values) {
      for (std::int64_t input = 0; input < args.inputs; ++input) {
        for (std::int64_t i = 0; i < block; ++i)
          sums[input] += static_cast<double>(values[i]) * element(args.input, args.element, input * args.columns + column + i);
      }
    });
    for (std::int64_t input = 0; input < args.inputs; ++input)
      set_element(args.output, args.element, input * args.output_stride + row, static_cast<float>(sums[input]));
  }
  return LaunchStatus::kOk;
}

LaunchStatus cuda_dequantise_rows_reference(const CudaDequantiseRowsArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  const std::int64_t block = block_elements(args.type);
  for (std::int64_t i = 0; i < args.count; ++i) {
    const std::int64_t row = args.ids != nullptr ? args.ids[i] - args.first : args.first + i;
    if (row < 0 || row >= args.rows) continue;
    each_block(args, row, [&](std::int64_t column, const float* values) {
      for (std::int64_t k = 0; k < block; ++k) {
        const std::int64_t to = args.column_of != nullptr ? args.column_of[column + k] : column + k;
        set_element(args.output, args.element, i * args.columns + to, values[k]);
      }
    });
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
