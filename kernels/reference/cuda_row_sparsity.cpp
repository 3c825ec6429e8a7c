// The definition of correct: row by row, column by column, products in double.
#include "kernels/api/cuda_row_sparsity.h"

#include <algorithm>
#include <cmath>

#include "kernels/reference/check_statistics.h"
#include "kernels/reference/device_logit.h"

namespace winnow::kernels {

namespace {

// Calls visit(query head, row, logit) for everything that is seen.
template <class Visit>
void for_seen_logits(const CudaSeenLogits& args, Visit visit) {
  for (std::int64_t head = 0; head < args.kv_heads * args.group; ++head) {
    for (std::int64_t row = 0; row < args.rows; ++row) {
      const std::int64_t seen = args.seen != nullptr ? args.seen[row] : args.seen_by_first + row;
      for (std::int64_t column = 0; column < std::min(args.columns, seen); ++column) {
        visit(head, row, static_cast<float>(device_logit(args, head, row, column)));
      }
    }
  }
}

}  // namespace

LaunchStatus cuda_row_maxima_reference(const CudaRowMaximaArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  for_seen_logits(args, [&](std::int64_t head, std::int64_t row, float logit) {
    float& highest = args.maxima[head * args.maxima_stride + row];
    if (logit > highest || std::isnan(logit)) highest = logit;
  });
  return LaunchStatus::kOk;
}

LaunchStatus cuda_count_below_reference(const CudaCountBelowArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  for_seen_logits(args, [&](std::int64_t head, std::int64_t row, float logit) {
    if (logit < args.maxima[head * args.maxima_stride + row] + args.below) ++args.counts[head];
  });
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
