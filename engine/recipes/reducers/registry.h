// The list of reducers. Adding one is its own file and one line in registry.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/recipes/reducers/reducer.h"

namespace winnow {

// One of each with its default options, in the order that people see.
std::vector<std::shared_ptr<const Reducer>> all_reducers(std::uint64_t seed);

}  // namespace winnow
