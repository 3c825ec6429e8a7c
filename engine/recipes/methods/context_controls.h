// Controls of methods that compress before the question: slots of the media by lot, and every k-th of them.
#pragma once

#include "engine/recipes/composition.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/method_options.h"

namespace winnow {

Composition random_context(OptionReader& options);
MethodInfo random_context_info();
Composition every_k(OptionReader& options);
MethodInfo every_k_info();

}  // namespace winnow
