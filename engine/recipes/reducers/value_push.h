// The value of a slot that leaves is pushed into those that follow it, keys stay as they are (CaM, Zhang et al., ICML 2024, algorithm 1):
// with the probability of its accumulated attention against theirs, each of the next `window` slots receives an equal part of it. So does
// what leaves after a decoded token; what leaves at the event goes without a trace, or (Prompt::kPush) takes turns, first to last, each
// with what it was given itself.
#pragma once

#include "engine/base/index.h"
#include "engine/recipes/reducers/reducer.h"

namespace winnow {

class ValuePushReducer : public Reducer {
 public:
  // kMean: of the receivers; kMaximum: of all slots that stay.
  enum class Reference : int { kMean = 1, kMaximum = 2 };

  enum class Prompt : int { kDrop = 1, kPush = 2 };

  struct Options {
    Prompt prompt = Prompt::kDrop;
    std::int64_t window = 16;  // slots that receive a value
    bool expected = false;     // always, scaled by the probability
    Reference reference = Reference::kMean;
    std::uint64_t seed = 0;
  };

  explicit ValuePushReducer(const Options& options) : options_(options) {}
  std::string name() const override { return "value-push"; }
  std::optional<Refusal> fits(const Composition& parts) const override;
  bool merges_at_event() const override { return options_.prompt == Prompt::kPush; }
  bool needs_attention() const override { return true; }
  Merging at_event(const EventSlots& slots) const override;
  Merging at_step(const LeavingSlot& slot) const override;

  // Probability (or, expected, the factor) with which a value is pushed: accumulated attention over the mean (Reference::kMean) or the
  // largest (kMaximum) of `others`, in [0, 1]; 0/0 is 0, x/0 is 1.
  double probability(float attention, std::span<const float> others) const;

 private:
  // The pushed share of the value: 0 or 1 by the draw, or the probability itself.
  double factor(double probability, LayerId layer, KvHead kv_head, std::int32_t original) const;

  Options options_;
};

}  // namespace winnow
