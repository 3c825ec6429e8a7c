#include "engine/recipes/pooling.h"

#include <algorithm>

#include "engine/base/error.h"

namespace winnow {

std::vector<float> pool_scores(std::span<const float> scores, std::int64_t kernel, Pooling pooling) {
  require(kernel >= 1 && kernel % 2 == 1, "pool_scores: the kernel must be odd");
  const auto n = static_cast<std::int64_t>(scores.size());
  const std::int64_t reach = kernel / 2;
  std::vector<float> pooled(scores.size());
  for (std::int64_t i = 0; i < n; ++i) {
    const auto window = scores.subspan(static_cast<std::size_t>(std::max<std::int64_t>(0, i - reach)),
                                       static_cast<std::size_t>(std::min(n - 1, i + reach) - std::max<std::int64_t>(0, i - reach) + 1));
    float& result = pooled[static_cast<std::size_t>(i)];
    if (pooling == Pooling::kMaximum) {
      result = *std::max_element(window.begin(), window.end());
    } else {
      float sum = 0.0F;
      for (const float score : window) sum += score;
      result = sum / static_cast<float>(kernel);
    }
  }
  return pooled;
}

}  // namespace winnow
