#include "engine/recipes/allocators/global_pairs.h"

#include "engine/recipes/composition.h"

namespace winnow {

std::optional<Refusal> GlobalAllocator::fits(const Composition& parts) const {
  if (parts.granularity == Granularity::kRagged) return std::nullopt;
  return Refusal{"granularity", "the best slots of the whole cache differ in number from head to head; this needs granularity ragged"};
}

}  // namespace winnow
