// The definition of correct: row by row, column by column, in double.
#include "kernels/api/column_sums.h"

#include <algorithm>
#include <cmath>

#include "kernels/reference/check_column_sums.h"
#include "kernels/reference/element.h"

namespace winnow::kernels {

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

}  // namespace winnow::kernels
