// From a turn that is ready to the finished answer with its figures.
//
// Used by TurnRunner and ComparisonRunner. Engine thread only.
#pragma once

#include <functional>

#include "engine/api/events.h"
#include "engine/api/requests.h"
#include "engine/base/interrupt.h"
#include "engine/generation/loaded_model.h"
#include "engine/generation/ready_turn.h"

namespace winnow {

// Emits the report, then the answer as it comes; ttft is what since_accepted_ms says at the first text. turn.recipe is what the figures are
// labelled with. working's thread then ends with the answer. Stop gives what there is, Cancel throws Interrupted.
Finished answer_turn(const LoadedModel& model, const Turn& turn, ReadyTurn ready, Conversation& working, const EmitEvent& emit,
                     const std::function<double()>& since_accepted_ms, const InterruptToken& interrupt);

// The labels of a turn that ended before it had any figures.
Finished interrupted_turn(const Turn& turn);

}  // namespace winnow
