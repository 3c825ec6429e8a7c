#include "engine/recipes/reducers/average.h"

#include <algorithm>
#include <numeric>

#include "engine/recipes/budget.h"

namespace winnow {

void AverageReducer::admit(std::vector<MergePair>& pairs, double /*threshold*/) const {
  if (fraction_ >= 1.0) return;
  std::vector<std::size_t> order(pairs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return pairs[a].cosine > pairs[b].cosine; });
  order.resize(static_cast<std::size_t>(round_half_up(fraction_ * static_cast<double>(pairs.size()))));
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i) pairs[i] = pairs[order[i]];
  pairs.resize(order.size());
}

}  // namespace winnow
