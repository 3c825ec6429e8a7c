// Allocator: how much of the total budget each layer gets, as weights that budget.h turns into integers.
//
// One file per rule. Const and pure: the per-layer number is taken when the layer's statistics exist, the weights when all layers have
// theirs. No torch.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/compression/statistics/layer_statistics.h"

namespace winnow {

class Allocator {
 public:
  virtual ~Allocator() = default;
  virtual std::string name() const = 0;
  // Nothing: the weights are known before the prefill, so a layer may be compressed as soon as its own prefill ends.
  virtual std::optional<StatisticsNeed> need() const { return std::nullopt; }
  // The layer's own number; asked only if need() is set.
  virtual double measure(const LayerStatistics&) const { return 0.0; }
  // Nonnegative weights; `measured` has one entry per layer.
  virtual std::vector<double> weights(std::span<const double> measured) const = 0;
};

}  // namespace winnow
