// Allocator: how much of the total budget each layer gets, as weights that budget.h turns into integers; the plainest, which gives every
// layer the same, is here.
//
// One file per rule; a rule that one preset alone has is in the preset's file. Const and pure: the per-layer numbers are taken when the
// layer's statistics exist, the weights when all layers have theirs. No torch.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/recipes/refusal.h"
#include "engine/recipes/segment_info.h"
#include "engine/recipes/statistics/layer_statistics.h"

namespace winnow {

struct Composition;

// An allocator's measurement of a layer; measure_names() names the numbers.
using LayerMeasure = std::vector<double>;

// Integers that an allocation must respect. Layers with low = high are not compressed.
struct BudgetBounds {
  std::int64_t total = 0;  // slots of all layers
  std::vector<std::int64_t> low;
  std::vector<std::int64_t> high;
  std::int64_t scope_tokens = 0;
  double retention = 1.0;             // what was asked for, as a share of all tokens that `total` is a share of
  std::vector<std::int64_t> guarded;  // of `low`: slots that stay whatever they score; empty: none
};

class Allocator {
 public:
  virtual ~Allocator() = default;
  // Short and stable: recipes name it.
  virtual std::string name() const = 0;
  // Refuses a composition whose other parts leave it no room; nothing: it fits.
  virtual std::optional<Refusal> fits(const Composition&) const { return std::nullopt; }
  // Nothing: the weights are known before the prefill, so a layer may be compressed as soon as its own prefill ends.
  virtual StatisticsNeeds needs() const { return {}; }
  // The statistics really needed of this segment: needs(), or fewer.
  virtual StatisticsNeeds needs_for(const SegmentInfo&) const { return needs(); }
  // The layer's own numbers; asked only if needs() is not empty.
  virtual LayerMeasure measure(const LayerStatistics&, const SegmentInfo&) const { return {}; }
  // Names of the first numbers of a measure, for people who ask why a layer got what it got.
  virtual std::vector<std::string> measure_names() const { return {}; }
  // The best slots of the whole cache stay, so that layers and heads compete (granularity ragged): there are no weights.
  virtual bool best_of_all_layers() const { return false; }
  // Whole heads stay, by their best slot: a head keeps everything, or nothing.
  virtual bool whole_heads() const { return false; }
  // Nonnegative weights; `measured` has one entry per layer.
  virtual std::vector<double> weights(std::span<const LayerMeasure> measured) const = 0;
  // Integers directly, where a rule is more than shares in proportion to weights.
  virtual std::optional<std::vector<std::int64_t>> budgets(std::span<const LayerMeasure>, const BudgetBounds&) const {
    return std::nullopt;
  }
};

// Every layer gets the same.
class UniformAllocator : public Allocator {
 public:
  std::string name() const override { return "uniform"; }
  std::vector<double> weights(std::span<const LayerMeasure> measured) const override { return std::vector<double>(measured.size(), 1.0); }
};

}  // namespace winnow
