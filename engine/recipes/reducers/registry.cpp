#include "engine/recipes/reducers/registry.h"

#include "engine/recipes/reducers/gated.h"
#include "engine/recipes/reducers/joining.h"
#include "engine/recipes/reducers/nearest_index.h"
#include "engine/recipes/reducers/shared_entries.h"
#include "engine/recipes/reducers/value_push.h"

namespace winnow {

std::vector<std::shared_ptr<const Reducer>> all_reducers(std::uint64_t seed) {
  return {
      std::make_shared<DropReducer>(),
      std::make_shared<AverageReducer>(),
      std::make_shared<PivotReducer>(),
      std::make_shared<WeightedReducer>(),
      std::make_shared<GatedReducer>(),
      std::make_shared<NearestIndexReducer>(),
      std::make_shared<ValuePushReducer>(ValuePushReducer::Options{.seed = seed}),
      std::make_shared<SharedEntriesReducer>(),
  };
}

}  // namespace winnow
