// The definition of correct: row by row, column by column, in double.
#include "kernels/api/column_sums.h"

#include <algorithm>
#include <cmath>

#include "kernels/api/cuda_column_sums.h"
#include "kernels/reference/check_statistics.h"
#include "kernels/reference/element.h"

namespace winnow::kernels {
namespace {

// The definition of correct for a GPU: column_sums_reference() of every KV head.
const void* from_element(const void* array, ElementType type, std::int64_t index) {
  return static_cast<const char*>(array) + index * (type == ElementType::kFp32 ? 4 : 2);
}

}  // namespace

LaunchStatus column_sums_reference(const ColumnSumsArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  for (std::int64_t row = 0; row < args.rows; ++row) {
    const std::int64_t seen = std::min(args.columns, args.seen_by_first + row);
    for (std::int64_t column = 0; column < seen; ++column) {
      double mean = 0.0;
      for (std::int64_t head = 0; head < args.group; ++head) {
        double product = 0.0;
        for (std::int64_t i = 0; i < args.head_dim; ++i) {
          product += element(args.query, args.type, head * args.query_head_stride + row * args.query_row_stride + i) *
                     element(args.key, args.type, column * args.key_stride + i);
        }
        const double log_probability =
            product * static_cast<double>(args.scale) - static_cast<double>(args.log_sum_exp[head * args.log_sum_exp_stride + row]);
        const double probability = std::exp(log_probability);
        float& sum = args.sums[head * args.sums_stride + column];
        sum = static_cast<float>(static_cast<double>(sum) + probability);
        mean += probability / static_cast<double>(args.group);
        if (args.entropy != nullptr && probability != 0.0) args.entropy[head] -= probability * log_probability;
      }
      if (args.squares != nullptr) args.squares[column] = static_cast<float>(static_cast<double>(args.squares[column]) + mean * mean);
    }
  }
  return LaunchStatus::kOk;
}

LaunchStatus cuda_column_sums_reference(const CudaColumnSumsArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  for (std::int64_t kv_head = 0; kv_head < args.kv_heads; ++kv_head) {
    const std::int64_t head = kv_head * args.group;
    ColumnSumsArgs one;
    one.type = args.type;
    one.query = from_element(args.query, args.type, head * args.query_head_stride);
    one.query_head_stride = args.query_head_stride;
    one.query_row_stride = args.query_row_stride;
    one.group = args.group;
    one.rows = args.rows;
    one.key = from_element(args.key, args.type, kv_head * args.key_head_stride);
    one.key_stride = args.key_row_stride;
    one.columns = args.columns;
    one.head_dim = args.head_dim;
    one.seen_by_first = args.seen_by_first;
    one.scale = args.scale;
    one.log_sum_exp = args.log_sum_exp + head * args.log_sum_exp_stride;
    one.log_sum_exp_stride = args.log_sum_exp_stride;
    one.sums = args.sums + head * args.sums_stride;
    one.sums_stride = args.sums_stride;
    if (args.squares != nullptr) one.squares = args.squares + kv_head * args.squares_stride;
    if (args.entropy != nullptr) one.entropy = args.entropy + head;
    one.workspace = static_cast<float*>(args.workspace);  // looked at, not used
    if (const LaunchStatus status = column_sums_reference(one); status != LaunchStatus::kOk) return status;
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
