// Every slot that leaves is averaged into the kept slot with the most similar key (MEDA, arXiv 2502.17599, section 3.3; LOOK-M, arXiv
// 2406.18139, averaged merging). With a fraction under 1 only the most similar share of them is, and the rest is dropped (AirCache's
// ablation, arXiv 2503.23956).
#pragma once

#include "engine/recipes/reducers/joining.h"

namespace winnow {

class AverageReducer : public SimilarityReducer {
 public:
  explicit AverageReducer(double fraction = 1.0) : fraction_(fraction) {}
  std::string name() const override { return "average"; }

 private:
  void admit(std::vector<MergePair>& pairs, double threshold) const override;
  double take_in(Merging::Scale& target, float cosine) const override { return take_in_evenly(target, cosine); }

  double fraction_;
};

}  // namespace winnow
