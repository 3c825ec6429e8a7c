// One question under several recipes: one vision pass and one prefill for all of them, answers one after the other or all together, a token
// each by one decode step.
//
// A column runs on a fork of the shared prefill, so that blocks kept by all are stored once. A recipe that compresses before the question
// runs on a fork of its prepared media, or on a prefill of its own. Answers do not depend on the order of columns. Figures are those of a
// turn under the column's recipe alone (TTFT: shared prefill, own statistics, own event), except peak memory, which includes the shared
// prefill, and the time of a step that columns share, which is each one's. After its answer a column is scored against the shared prefill,
// which is the full cache. Used by engine/api. Errors: Exception. Engine thread only.
#pragma once

#include "engine/generation/context/request_context.h"
#include "engine/generation/requests/conversation_states.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"

namespace winnow {

// The turn of a column: the whole thread, including what earlier questions have dropped.
Turn column_turn(const Compare& compare, const RecipeSpec& recipe);

// Emits everything up to, but not including, Compared, which it returns. The answers are kept as states.columns. One after another: Stop
// ends the running column and skips the rest. Interleaved: Stop ends all. Cancel, and Stop before the first answer has begun (interleaved:
// before all have), throw Interrupted and leave the states unchanged.
Compared run_comparison(const RequestContext& context, const Compare& compare, ConversationStates& states);

}  // namespace winnow
