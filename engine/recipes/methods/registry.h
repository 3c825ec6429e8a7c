// The list of methods. Adding one is its own file and one line in registry.cpp.
#pragma once

#include <span>
#include <string>

#include "engine/recipes/composition.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/method_options.h"

namespace winnow {

struct MethodEntry {
  const char* name;
  MethodInfo (*info)();
  Composition (*compose)(OptionReader& options);
};

std::span<const MethodEntry> method_registry();

// Throws kIllegalRecipe naming the known ones if there is no such method.
const MethodEntry& find_method(const std::string& name);

}  // namespace winnow
