// Every layer gets the same.
#pragma once

#include "engine/recipes/allocators/allocator.h"

namespace winnow {

class UniformAllocator : public Allocator {
 public:
  std::string name() const override { return "uniform"; }
  std::vector<double> weights(std::span<const LayerMeasure> measured) const override { return std::vector<double>(measured.size(), 1.0); }
};

}  // namespace winnow
