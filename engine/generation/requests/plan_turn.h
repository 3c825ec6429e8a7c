// What a turn would take, without running it: exact tokens, cache bytes by the recipe's own rules, whether it fits, how long the wait will
// be.
//
// Used by engine/api for Plan. Opens media (headers only) and builds the prompt as prepare_segment() does; the compression event is
// foreseen by SegmentCompressor, the allocator's peak by counting KvCache's blocks. Exact where budgets are known before the prefill; where
// they follow the prompt their sum is exact and the peak is off by a few blocks. Changes nothing. Errors: Exception, Interrupted. Engine
// thread.
#pragma once

#include "engine/base/interrupt.h"
#include "engine/generation/context/loaded_model.h"
#include "engine/generation/conversation/conversation_states.h"
#include "engine/media/frame_source.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"

namespace winnow {

class TurnPlanner {
 public:
  // opener may be null for text-only use.
  TurnPlanner(LoadedModel& model, MediaOpener* opener) : model_(model), opener_(opener) {}

  Planned plan(const Turn& turn, const ConversationStates& states, const InterruptToken& interrupt) const;

 private:
  LoadedModel& model_;
  MediaOpener* opener_;
};

}  // namespace winnow
