// Every slot that leaves is scaled by its cosine with the kept slot of the most similar key, then the kept slot becomes the mean (LOOK-M,
// arXiv 2406.18139, weighted merging). With a gate only slots whose cosine is at least the mean take part.
#pragma once

#include "engine/recipes/reducers/joining.h"

namespace winnow {

class WeightedReducer : public SimilarityReducer {
 public:
  explicit WeightedReducer(bool mean_gate = false) : mean_gate_(mean_gate) {}
  std::string name() const override { return "weighted"; }

 private:
  void admit(std::vector<MergePair>& pairs, double /*threshold*/) const override {
    if (!mean_gate_) return;
    const double mean = mean_cosine(pairs);
    std::erase_if(pairs, [mean](const MergePair& pair) { return pair.cosine < mean; });
  }
  double take_in(Merging::Scale& target, float cosine) const override {
    target.divisor += 1.0;
    return cosine;
  }

  bool mean_gate_;
};

}  // namespace winnow
