// Self-study: the model describes the media to itself once and repeats them; what its words look at stays for every later question.
//
// Our own, after the reference rows of Attention Matching (arXiv 2602.16284) and KVzip+; the votes are probabilities weighed by norms, over
// the rows of the request and of the answer, and over those of the repetition (KVzip+, not chunked): a slot has the larger of the two
// (with=nothing: the description alone, which forgets what it leaves out, as weak models' do). The best slots of the whole cache stay, and
// a fifth of an equal share in every head (floor=0.2).
#pragma once

#include "engine/recipes/composition.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/method_options.h"

namespace winnow {

Composition self_study(OptionReader& options);
MethodInfo self_study_info();

}  // namespace winnow
