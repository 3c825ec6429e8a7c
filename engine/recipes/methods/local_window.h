// LocalWindow: the last b tokens and nothing else; the window baseline of Xiao et al., arXiv 2309.17453, figure 1 (b).
//
// While decoding the oldest slot leaves when m > b. Deviation: none; keys keep their original rotary positions.
#pragma once

#include "engine/recipes/composition.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/method_options.h"

namespace winnow {

Composition local_window(OptionReader& options);
MethodInfo local_window_info();

}  // namespace winnow
