// One question under several recipes: one vision pass and one prefill for all of them, answers one after the other or a token each in turn.
//
// Every column runs on a fork of the shared prefill, so what all keep is stored once, or, where its recipe compresses before the question,
// of media that are prepared for it (as a turn would), else on a prefill of its own. What it says does not depend on the order. Its
// figures are those of a turn under its recipe alone (time to the first token: the shared prefill, its own statistics, its own event), but
// for the peak of memory, where the shared prefill counts. After its answer a column is scored against the shared prefill, which is the
// full cache. Used by engine/api. Errors: Exception. Engine thread only.
#pragma once

#include "engine/generation/context/request_context.h"
#include "engine/generation/requests/conversation_states.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"

namespace winnow {

// What a column answers: all of the thread, whatever its questions have dropped.
Turn column_turn(const Compare& compare, const RecipeSpec& recipe);

// Emits everything up to, but not including, Compared, which it returns. The answers are kept as states.columns. One after another: Stop
// ends the column that runs and leaves out the rest. Interleaved: Stop ends all of them. Cancel, and Stop before the first answer began
// (interleaved: before all of them began), throw Interrupted and leave the states as they were.
Compared run_comparison(const RequestContext& context, const Compare& compare, ConversationStates& states);

}  // namespace winnow
