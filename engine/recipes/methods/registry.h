// The list of methods. Adding one is its own file, its name in method.h and here.
#pragma once

#include <span>
#include <string>

#include "engine/recipes/methods/method.h"

namespace winnow {

std::span<const Method* const> method_registry();

// Throws kIllegalRecipe naming the known ones if there is no such method.
const Method& find_method(const std::string& name);

}  // namespace winnow
