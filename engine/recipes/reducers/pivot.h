// Every slot that leaves is first averaged with the kept slot of the most similar key, then the kept slot becomes the mean of itself and
// all of these (LOOK-M, arXiv 2406.18139, pivotal merging).
#pragma once

#include "engine/recipes/reducers/joining.h"

namespace winnow {

class PivotReducer : public SimilarityReducer {
 public:
  std::string name() const override { return "pivot"; }

 private:
  double take_in(Merging::Scale& target, float /*cosine*/) const override {
    target.own += 0.5;
    target.divisor += 1.0;
    return 0.5;
  }
};

}  // namespace winnow
