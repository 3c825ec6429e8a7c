#include "engine/recipes/pooling.h"

#include <algorithm>
#include <iterator>

#include "engine/base/error.h"

namespace winnow {

namespace {

// So many scores stay in the first-level cache while their neighbours are taken in.
constexpr std::int64_t kTile = 2048;

// Takes in every score's neighbours from the first to the last, all scores' first ones first: no score waits for another, and each one's
// are taken in in their order.
template <class TakeIn>
void pool_rows(std::span<const float> scores, std::int64_t reach, std::span<float> pooled, const TakeIn& take_in) {
  const std::int64_t n = std::ssize(scores);
  for (std::int64_t begin = 0; begin < n; begin += kTile) {
    const std::int64_t end = std::min(n, begin + kTile);
    for (std::int64_t offset = -reach; offset <= reach; ++offset) {
      const std::int64_t first = std::max(begin, -offset);
      const std::int64_t count = std::min(end, n - offset) - first;
      if (count <= 0) continue;
      float* const to = pooled.data() + first;
      const float* const from = scores.data() + (first + offset);
      for (std::int64_t i = 0; i < count; ++i) to[i] = take_in(to[i], from[i]);
    }
  }
}

}  // namespace

void pool_scores(std::span<const float> scores, std::int64_t kernel, Pooling pooling, std::span<float> pooled) {
  require(kernel >= 1 && kernel % 2 == 1, "pool_scores: the kernel must be odd");
  require(pooled.size() == scores.size(), "pool_scores: a number for every score");
  const std::int64_t reach = kernel / 2;
  if (pooling == Pooling::kMaximum) {
    // From the first neighbour on, itself no number included.
    for (std::int64_t i = 0; i < std::ssize(pooled); ++i)
      pooled[static_cast<std::size_t>(i)] = scores[static_cast<std::size_t>(std::max<std::int64_t>(0, i - reach))];
    pool_rows(scores, reach, pooled, [](float most, float score) { return most < score ? score : most; });
    return;
  }
  std::ranges::fill(pooled, 0.0F);
  pool_rows(scores, reach, pooled, [](float sum, float score) { return sum + score; });
  for (float& sum : pooled) sum /= static_cast<float>(kernel);
}

std::vector<float> pool_scores(std::span<const float> scores, std::int64_t kernel, Pooling pooling) {
  std::vector<float> pooled(scores.size());
  pool_scores(scores, kernel, pooling, pooled);
  return pooled;
}

}  // namespace winnow
