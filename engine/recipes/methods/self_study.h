// Self-study: the model describes the media to itself once, and its own words vote for what stays for every later question.
//
// Our own, after the reference rows of Attention Matching (arXiv 2602.16284) and KVzip+; the votes are probabilities weighed by norms, over
// the rows of the request and of the answer, and the best slots of the whole cache stay.
#pragma once

#include "engine/recipes/composition.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/method_options.h"

namespace winnow {

Composition self_study(OptionReader& options);
MethodInfo self_study_info();

}  // namespace winnow
