#include "engine/recipes/reducers/reducer.h"

#include <numeric>

namespace winnow {

double mean_cosine(std::span<const MergePair> pairs) {
  if (pairs.empty()) return 0.0;
  return std::accumulate(pairs.begin(), pairs.end(), 0.0, [](double sum, const MergePair& pair) { return sum + pair.cosine; }) /
         static_cast<double>(pairs.size());
}

}  // namespace winnow
