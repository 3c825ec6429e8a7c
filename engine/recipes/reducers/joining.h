// Merging in which every slot that takes part joins one slot that stays, as all rules but value push and shared entries have it.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "engine/recipes/reducers/reducer.h"

namespace winnow {

// Moves the scale of a slot that takes another one in, and returns the other's weight.
using TakeIn = std::function<double(Merging::Scale& target, float cosine)>;

// alone: scale of a target before anybody joins it. Pairs ascend by row.
Merging join(std::span<const MergePair> pairs, Merging::Scale alone, const TakeIn& take_in);

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
