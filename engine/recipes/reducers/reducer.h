// Reducer: what becomes of the slots that leave.
//
// One file per rule, one line in registry.cpp. Const and pure, and without tensors like scorers and allocators: a reducer says what it has
// to know of the slots, gets it as numbers, and answers with the weights with which rows flow into one another. Cosines are computed and
// flows carried out by engine/compression (reducers/merge.h), at the event for all that leaves, and after a decoded token for one slot.
// Shared by a composition and the decode policies that outlive it. Threads: any.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/index.h"
#include "engine/recipes/refusal.h"
#include "engine/recipes/segment_info.h"

namespace winnow {

struct Composition;
struct SharingRule;

// A row that leaves, and the row that stays with the most similar key (ties: the smaller row).
struct MergePair {
  std::int32_t row = 0;
  std::int32_t into = 0;
  float cosine = 0.0F;
};

// 0 if nothing leaves.
double mean_cosine(std::span<const MergePair> pairs);

// The slots of one kv head in one event. Rows are candidates.
struct EventSlots {
  const SegmentInfo& candidates;
  std::span<const std::int32_t> kept;     // ascending
  std::span<const std::int32_t> leaving;  // the others, ascending
  std::span<const MergePair> nearest;     // of `leaving`, in its order; empty unless needs_similarity()
  std::span<const float> attention;       // per row, from all rows that saw it; empty unless needs_attention()
  double threshold = 0.0;                 // next_threshold() as this event has moved it
  LayerId layer;
  KvHead kv_head;
};

// One slot of a head that leaves while decoding. Rows are slots, in any order of tokens; all others stay.
struct LeavingSlot {
  std::int32_t slot = 0;
  std::span<const std::int32_t> original;  // token of each slot
  MergePair nearest;                       // row = slot; unless needs_similarity() meaningless
  std::span<const float> attention;        // accumulated, per slot
  double threshold = 0.0;
  LayerId layer;
  KvHead kv_head;
};

// How rows flow into others. First every scaled row is multiplied by `own`; then the flows take place in their order, so that what a row
// has received goes on with it; at last the scaled rows are divided. Rows that stay are then written.
struct Merging {
  struct Scale {
    double own = 1.0;
    double divisor = 1.0;
  };
  struct Scaled {
    std::int32_t row = 0;
    Scale scale;
  };
  struct Flow {
    std::int32_t from = 0;
    std::int32_t into = 0;
    double weight = 1.0;
  };
  std::vector<Scaled> scaled{};  // each row once
  std::vector<Flow> flows{};
  bool values_only = false;  // keys stay as they are
};

class Reducer {
 public:
  virtual ~Reducer() = default;
  // Short and stable: recipes name it.
  virtual std::string name() const = 0;
  // Refuses a composition whose other parts leave it no room; nothing: it fits.
  virtual std::optional<Refusal> fits(const Composition&) const { return std::nullopt; }

  // False: what leaves is gone, and nobody asks further.
  virtual bool merges() const { return true; }
  // False: what leaves at the event is gone, only at_step() is asked.
  virtual bool merges_at_event() const { return merges(); }
  virtual bool needs_similarity() const { return false; }
  // Attention accumulated from the prompt's rows and the decoded ones.
  virtual bool needs_attention() const { return false; }

  virtual Merging at_event(const EventSlots&) const { return {}; }
  virtual Merging at_step(const LeavingSlot&) const { return {}; }

  // A number that is remembered per layer and kv head from event to event and token to token: what it becomes when slots leave that are as
  // similar as this to their nearest in the mean. previous: NaN at first. Nothing: the rule remembers none.
  virtual std::optional<double> next_threshold(double /*previous*/, double /*cosine_of_head*/, double /*cosine_of_layer*/) const {
    return std::nullopt;
  }

  // Not null: what stays is not merged into but shared by tokens that are told apart by a look-up table. That is another way to store a
  // head, not another set of weights: kv_cache and layers know it, and of the functions above only fits() is asked.
  virtual const SharingRule* sharing() const { return nullptr; }
};

// Dropped slots are discarded.
class DropReducer : public Reducer {
 public:
  std::string name() const override { return "drop"; }
  bool merges() const override { return false; }
};

}  // namespace winnow
