// The definition of correct: row by row, key by key, in double; only the result is rounded.
#include "kernels/api/prefill_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/reference/check_attention.h"
#include "kernels/reference/element.h"

namespace winnow::kernels {
namespace {

double logit(const PrefillAttentionArgs& args, std::int64_t query, std::int64_t key) {
  double product = 0.0;
  for (std::int64_t i = 0; i < args.head_dim; ++i) {
    product += element(args.query, args.type, query + i) * element(args.key, args.type, key * args.key_stride + i);
  }
  return product * static_cast<double>(args.scale);
}

// The attention that every key receives, from the rows' log-sum-exp.
void write_column_sums(const PrefillAttentionArgs& args) {
  const auto probability = [&](std::int64_t head, std::int64_t row, std::int64_t j) {
    const double whole = static_cast<double>(args.log_sum_exp[head * args.log_sum_exp_stride + row]);
    return std::exp(logit(args, head * args.query_head_stride + row * args.query_row_stride, j) - whole);
  };
  for (std::int64_t j = 0; j < args.keys; ++j) {
    const std::int64_t first = std::max<std::int64_t>(0, j + 1 - args.seen_by_first);
    for (std::int64_t head = 0; head < args.group; ++head) {
      double sum = 0.0;
      for (std::int64_t row = first; row < args.rows; ++row) sum += probability(head, row, j);
      args.column_sums[head * args.column_sums_stride + j] = static_cast<float>(sum);
    }
    double squares = 0.0;
    for (std::int64_t row = first; row < args.rows && args.column_squares != nullptr; ++row) {
      double mean = 0.0;
      for (std::int64_t head = 0; head < args.group; ++head) mean += probability(head, row, j) / static_cast<double>(args.group);
      squares += mean * mean;
    }
    if (args.column_squares != nullptr) args.column_squares[j] = static_cast<float>(squares);
  }
}

}  // namespace

LaunchStatus prefill_attention_reference(const PrefillAttentionArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  for (std::int64_t head = 0; head < args.group; ++head) {
    for (std::int64_t row = 0; row < args.rows; ++row) {
      const std::int64_t query = head * args.query_head_stride + row * args.query_row_stride;
      const std::int64_t seen = std::clamp<std::int64_t>(args.seen_by_first + row, 0, args.keys);
      double maximum = -std::numeric_limits<double>::infinity();
      for (std::int64_t j = 0; j < seen; ++j) maximum = std::max(maximum, logit(args, query, j));
      double sums[kMaxHeadDim] = {};
      double sum = 0.0;
      for (std::int64_t j = 0; j < seen; ++j) {
        const double weight = std::exp(logit(args, query, j) - maximum);
        sum += weight;
        for (std::int64_t i = 0; i < args.head_dim; ++i) sums[i] += weight * element(args.value, args.type, j * args.value_stride + i);
      }
      args.log_sum_exp[head * args.log_sum_exp_stride + row] = static_cast<float>(maximum + std::log(sum));
      for (std::int64_t i = 0; i < args.head_dim; ++i) {
        const double mean = seen == 0 ? 0.0 : sums[i] / sum;
        set_element(args.output, args.type, head * args.output_head_stride + row * args.output_row_stride + i, static_cast<float>(mean));
      }
    }
  }
  if (args.column_sums != nullptr) write_column_sums(args);
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
