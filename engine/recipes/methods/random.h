// Random eviction: the control. Any method that does not beat it says nothing; report the mean over at least three seeds.
//
// kept = the last token + the highest hashes of (seed, layer, kv head, original token index). No paper.
#pragma once

#include "engine/recipes/composition.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/method_options.h"

namespace winnow {

Composition random_eviction(OptionReader& options);
MethodInfo random_info();

}  // namespace winnow
