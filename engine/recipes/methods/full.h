// Everything stays: the reference for all others. The same path with the event disabled.
#pragma once

#include "engine/recipes/composition.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/method_options.h"

namespace winnow {

Composition full(OptionReader& options);
MethodInfo full_info();

}  // namespace winnow
