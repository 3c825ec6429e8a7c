// Compositions by preset name and options, for tests.
#pragma once

#include <map>
#include <string>

#include "engine/recipes/composition_parts.h"

namespace winnow::testing {

inline Composition composition_of(const std::string& method, const std::map<std::string, std::string>& options = {},
                                  std::uint64_t seed = 0) {
  RecipeSpec spec{.method = method, .seed = seed, .options = options};
  return compose(spec);
}

}  // namespace winnow::testing
