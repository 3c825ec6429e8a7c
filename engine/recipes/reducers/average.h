// Every slot that leaves is averaged into the kept slot with the most similar key (MEDA, arXiv 2502.17599, section 3.3; LOOK-M, arXiv
// 2406.18139, averaged merging). With a fraction under 1 only the most similar share of them is, and the rest is dropped (AirCache's
// ablation, arXiv 2503.23956).
#pragma once

#include <algorithm>
#include <numeric>

#include "engine/recipes/budget.h"
#include "engine/recipes/reducers/joining.h"

namespace winnow {

class AverageReducer : public SimilarityReducer {
 public:
  explicit AverageReducer(double fraction = 1.0) : fraction_(fraction) {}
  std::string name() const override { return "average"; }

 private:
  void admit(std::vector<MergePair>& pairs, double /*threshold*/) const override {
    if (fraction_ >= 1.0) return;
    std::vector<std::size_t> order(pairs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return pairs[a].cosine > pairs[b].cosine; });
    order.resize(static_cast<std::size_t>(round_half_up(fraction_ * static_cast<double>(pairs.size()))));
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < order.size(); ++i) pairs[i] = pairs[order[i]];
    pairs.resize(order.size());
  }
  double take_in(Merging::Scale& target, float cosine) const override { return take_in_evenly(target, cosine); }

  double fraction_;
};

}  // namespace winnow
