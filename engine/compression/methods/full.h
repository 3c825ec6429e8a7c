// Everything stays: the reference for all others. The same path with the event disabled.
#pragma once

#include "engine/compression/composition.h"
#include "engine/compression/method_info.h"
#include "engine/compression/method_options.h"

namespace winnow {

Composition full(OptionReader& options);
MethodInfo full_info();

}  // namespace winnow
