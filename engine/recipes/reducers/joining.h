// Merging in which every slot that takes part joins one slot that stays, as all rules but value push and shared entries have it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

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

}  // namespace winnow
