#include "engine/recipes/reducers/gated.h"

#include <cmath>

namespace winnow {

std::optional<double> GatedReducer::next_threshold(double previous, double cosine_of_head, double cosine_of_layer) const {
  const double current = scope_ == ThresholdScope::kLayer ? cosine_of_layer : cosine_of_head;
  return std::isnan(previous) ? current : decay_ * current + (1.0 - decay_) * previous;
}

void GatedReducer::admit(std::vector<MergePair>& pairs, double threshold) const {
  std::erase_if(pairs, [threshold](const MergePair& pair) { return !(pair.cosine >= threshold); });
}

Merging::Scale GatedReducer::alone() const {
  return weights_ == Weights::kExponential ? Merging::Scale{std::exp(1.0), std::exp(1.0)} : Merging::Scale{};
}

double GatedReducer::take_in(Merging::Scale& target, float cosine) const {
  const double weight = weights_ == Weights::kExponential ? std::exp(static_cast<double>(cosine)) : cosine;
  target.divisor += weights_ == Weights::kExponential ? weight : 1.0;
  return weight;
}

}  // namespace winnow
