// FullCache: keeps everything. The reference that every other method equals at retention 1.
#pragma once

#include "engine/compression/composition.h"
#include "engine/compression/method_info.h"

namespace winnow {

Composition compose_full();
MethodInfo full_info();

}  // namespace winnow
