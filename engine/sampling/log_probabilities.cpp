#include "engine/sampling/log_probabilities.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace winnow {

LogProbabilities::LogProbabilities(std::span<const float> logits) : logits_(logits) {
  if (logits.empty()) return;
  const double most = *std::ranges::max_element(logits);
  double sum = 0.0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - most);
  log_sum_exp_ = most + std::log(sum);
}

std::vector<std::int64_t> LogProbabilities::likeliest(std::size_t count) const {
  std::vector<std::int64_t> ids(logits_.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto last = ids.begin() + static_cast<std::ptrdiff_t>(std::min(count, ids.size()));
  std::partial_sort(ids.begin(), last, ids.end(), [&](std::int64_t a, std::int64_t b) {
    const float left = logits_[static_cast<std::size_t>(a)], right = logits_[static_cast<std::size_t>(b)];
    return left != right ? left > right : a < b;
  });
  ids.erase(last, ids.end());
  return ids;
}

}  // namespace winnow
