// Slots whose cosine with the nearest kept key reaches a moving threshold are merged with exponential weights, the others are dropped
// (D2O, arXiv 2406.13035, equations 9-12). The released code weighs by the cosine itself, and keeps one threshold per layer.
#pragma once

#include <cmath>

#include "engine/recipes/reducers/joining.h"

namespace winnow {

class GatedReducer : public SimilarityReducer {
 public:
  enum class Weights : int { kExponential = 1, kCosine = 2 };
  enum class ThresholdScope : int { kHead = 1, kLayer = 2 };

  // decay: weight of the current mean cosine in the moving threshold.
  explicit GatedReducer(double decay = 0.7, ThresholdScope scope = ThresholdScope::kHead, Weights weights = Weights::kExponential)
      : decay_(decay), scope_(scope), weights_(weights) {}
  std::string name() const override { return "gated"; }
  std::optional<double> next_threshold(double previous, double cosine_of_head, double cosine_of_layer) const override {
    const double current = scope_ == ThresholdScope::kLayer ? cosine_of_layer : cosine_of_head;
    return std::isnan(previous) ? current : decay_ * current + (1.0 - decay_) * previous;
  }

 private:
  void admit(std::vector<MergePair>& pairs, double threshold) const override {
    std::erase_if(pairs, [threshold](const MergePair& pair) { return !(pair.cosine >= threshold); });
  }
  Merging::Scale alone() const override {
    return weights_ == Weights::kExponential ? Merging::Scale{std::exp(1.0), std::exp(1.0)} : Merging::Scale{};
  }
  double take_in(Merging::Scale& target, float cosine) const override {
    const double weight = weights_ == Weights::kExponential ? std::exp(static_cast<double>(cosine)) : cosine;
    target.divisor += weights_ == Weights::kExponential ? weight : 1.0;
    return weight;
  }

  double decay_;
  ThresholdScope scope_;
  Weights weights_;
};

}  // namespace winnow
