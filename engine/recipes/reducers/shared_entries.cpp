#include "engine/recipes/reducers/shared_entries.h"

#include "engine/recipes/composition.h"

namespace winnow {

std::optional<Refusal> SharedEntriesReducer::fits(const Composition& parts) const {
  if (parts.phase != MethodPhase::kDecode)
    return Refusal{"method", "slots are shared at the event and while decoding; this method has one event only"};
  // Tokens of a shared slot are weighed by what the last rows gave them, too.
  if (parts.decode.local_rows < 1) return Refusal{"reducer", "sharing slots needs the scorer global-local"};
  if (parts.granularity == Granularity::kLayer) return Refusal{"granularity", "sharing slots needs a set per kv head"};
  if (parts.scope == Scope::kVisual) return Refusal{"scope", "sharing slots is made for all tokens"};
  if (parts.protection.window < 1) return Refusal{"window", "sharing slots needs a window of recent tokens"};
  return std::nullopt;
}

}  // namespace winnow
