// How many slots an event grants to every layer: bounds from what competes and is protected, shares from the recipe's allocator.
//
// Made per event by SegmentCompressor. Plain numbers, no torch. Slots are within the scope, and per kv head; with granularity ragged those
// of all kv heads of the layer together. Of a layer that looks back over a window, what is asked for is a share of what it sees, and so is
// its part of the total. All vectors have one entry per layer. Recipe must outlive it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/recipes/allocators/allocator.h"
#include "engine/recipes/recipe.h"

namespace winnow {

// A layer's demand per head: that of its most demanding head.
struct LayerDemand {
  std::int64_t competing = 0;           // slots that may be dropped
  std::int64_t guarded = 0;             // protected slots
  std::int64_t pinned = 0;              // of these pinned by the user
  std::optional<std::int64_t> reach{};  // of tokens seen, so many at most can compete: the layer looks back over a window
};

class EventBudgets {
 public:
  // seen: tokens that the request is about where that is more than what competes (turn policy whole). kv_heads: read where heads compete.
  EventBudgets(const Recipe& recipe, const std::vector<LayerDemand>& layers, std::optional<std::int64_t> seen, std::int64_t kv_heads = 1);

  // False: no layer has to give anything up. Whatever happens then, budgets cover all that competes: the cache stays bit-identical to an
  // uncompressed one.
  bool take_place() const { return take_place_; }
  // Pins alone are more than was asked for; and the same of all that is protected.
  bool pins_above_budget() const { return pins_above_budget_; }
  bool raised_to_floor() const { return raised_to_floor_; }

  // measured: what the allocator found in every layer, empty measures where it needs none. Returns how many weights were not finite and
  // count as 0.
  std::int64_t decide(std::span<const LayerMeasure> measured);
  // In place of decide() where the best of all layers stay: what each then has.
  void take(std::vector<std::int64_t> slots) { slots_ = std::move(slots); }
  bool decided() const { return !slots_.empty(); }
  // The sum over all layers, with protected slots included if they are more; and the request as a share of what competes.
  std::int64_t total() const;
  double retention() const { return bounds_.retention; }
  const std::vector<std::int64_t>& slots() const { return slots_; }
  // Before anything is measured: as decided, or equal shares of the total.
  std::vector<std::int64_t> foreseen() const;
  // The same if the layers' slots up to `useful` were wanted before all others.
  std::vector<std::int64_t> foreseen_for(std::span<const std::int64_t> useful) const;

 private:
  std::vector<std::int64_t> shared_by(std::vector<double> weights) const;

  const Recipe* recipe_;
  BudgetBounds bounds_;
  std::vector<double> asked_;  // of every layer, where these differ
  bool take_place_ = false;
  bool pins_above_budget_ = false;
  bool raised_to_floor_ = false;
  std::vector<std::int64_t> slots_;
};

}  // namespace winnow
