// Controls of methods that compress before the question: slots of the media by lot, every k-th of them, and the newest.
//
// last-frames is the control of streams: what fits of the newest frames, nothing of the others. In a public comparison (SimpleStream,
// arXiv 2604.02317) a model that was shown the last four frames alone answered better than with any of thirteen stream methods. Deviation:
// there these frames are read by themselves; here they were read behind the older ones, of which something remains in their keys and
// values.
#pragma once

#include "engine/recipes/composition.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/method_options.h"

namespace winnow {

Composition random_context(OptionReader& options);
MethodInfo random_context_info();
Composition every_k(OptionReader& options);
MethodInfo every_k_info();
Composition last_frames(OptionReader& options);
MethodInfo last_frames_info();

}  // namespace winnow
