// The definition of correct: row by row, in double.
#include "kernels/api/cuda_cross_modal_entropy.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/reference/check_statistics.h"
#include "kernels/reference/device_logit.h"

namespace winnow::kernels {

namespace {

double entropy_of(const std::vector<double>& probabilities) {
  double entropy = 0.0;
  for (const double p : probabilities) entropy -= p != 0.0 ? p * std::log(p) : 0.0;
  return entropy;
}

// Softmax over the first `seen` listed columns.
std::vector<double> softmax_of(const CudaCrossModalArgs& args, std::int64_t head, std::int64_t row, std::int64_t seen) {
  std::vector<double> logits;
  for (std::int64_t column = 0; column < seen; ++column) {
    logits.push_back(device_logit(args, head, args.row_of[row], args.column_of[column]));
  }
  const double highest = *std::max_element(logits.begin(), logits.end());
  double sum = 0.0;
  for (double& logit : logits) sum += logit = std::exp(logit - highest);
  for (double& logit : logits) logit /= sum;
  return logits;
}

}  // namespace

LaunchStatus cuda_cross_modal_entropy_reference(const CudaCrossModalArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  const std::int64_t heads = args.kv_heads * args.group;
  for (std::int64_t row = 0; row < args.rows; ++row) {
    const std::int64_t seen = std::min(args.columns, args.seen != nullptr ? args.seen[row] : args.seen_by_first + row);
    if (seen <= 0) continue;
    std::vector<double> mean(static_cast<std::size_t>(seen), 0.0);
    double of_heads = 0.0;
    for (std::int64_t head = 0; head < heads; ++head) {
      const std::vector<double> probabilities = softmax_of(args, head, row, seen);
      of_heads += entropy_of(probabilities) / static_cast<double>(heads);
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += probabilities[i] / static_cast<double>(heads);
    }
    *args.entropy += args.mean_first ? entropy_of(mean) : of_heads;
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
