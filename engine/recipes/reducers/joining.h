// Merging in which every slot that takes part joins one slot that stays, as all rules but value push and shared entries have it; and
// LOOK-M's three rules of this kind.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "engine/recipes/budget.h"
#include "engine/recipes/reducers/reducer.h"

namespace winnow {

// alone: scale of a target before anybody joins it. Pairs ascend by row. take_in(Merging::Scale& target, float cosine) moves the scale of a
// slot that takes another one in, and returns the other's weight.
template <class TakeIn>
Merging join(std::span<const MergePair> pairs, Merging::Scale alone, const TakeIn& take_in) {
  Merging merging;
  merging.flows.reserve(pairs.size());
  std::int32_t rows = 0;
  for (const MergePair& pair : pairs) rows = std::max(rows, pair.into + 1);
  std::vector<std::int32_t> place(static_cast<std::size_t>(rows), -1);  // of a row in `scaled`
  for (const MergePair& pair : pairs) {
    std::int32_t& found = place[static_cast<std::size_t>(pair.into)];
    if (found < 0) {
      found = static_cast<std::int32_t>(merging.scaled.size());
      merging.scaled.push_back({pair.into, alone});
    }
    const double weight = take_in(merging.scaled[static_cast<std::size_t>(found)].scale, pair.cosine);
    merging.flows.push_back({pair.row, pair.into, weight});
  }
  return merging;
}

// The plain mean.
inline double take_in_evenly(Merging::Scale& target, float /*cosine*/) {
  target.divisor += 1.0;
  return 1.0;
}

// Rules that join what has the most similar key, at the event and while decoding.
class SimilarityReducer : public Reducer {
 public:
  bool needs_similarity() const final { return true; }
  Merging at_event(const EventSlots& slots) const final;
  Merging at_step(const LeavingSlot& slot) const final;

 protected:
  // Takes out of the pairs those that do not take part; their rows are dropped.
  virtual void admit(std::vector<MergePair>&, double /*threshold*/) const {}
  virtual Merging::Scale alone() const { return {}; }
  virtual double take_in(Merging::Scale& target, float cosine) const = 0;

 private:
  Merging joined(std::vector<MergePair> pairs, double threshold) const;
};

// Every slot that leaves is averaged into the kept slot with the most similar key (MEDA, arXiv 2502.17599, section 3.3; LOOK-M, arXiv
// 2406.18139, averaged merging). With a fraction under 1 only the most similar share of them is, and the rest is dropped (AirCache's
// ablation, arXiv 2503.23956).
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

// Every slot that leaves is first averaged with the kept slot of the most similar key, then the kept slot becomes the mean of itself and
// all of these (LOOK-M, arXiv 2406.18139, pivotal merging).
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

// Every slot that leaves is scaled by its cosine with the kept slot of the most similar key, then the kept slot becomes the mean (LOOK-M,
// arXiv 2406.18139, weighted merging). With a gate only slots whose cosine is at least the mean take part.
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
