// From a compressed segment to the finished answer with its figures: the last part of a turn.
//
// Used by TurnRunner and ComparisonRunner once the event is over. Engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/api/events.h"
#include "engine/api/requests.h"
#include "engine/base/interrupt.h"
#include "engine/generation/conversation.h"
#include "engine/generation/loaded_model.h"
#include "engine/generation/turn_segment.h"

namespace winnow {

struct SegmentAnswer {
  Finished finished;
  std::vector<std::int64_t> token_ids;  // generated, the stop token included
};

// Emits report, then the answer as it comes. turn.recipe is what the figures are labelled with; timings: all but ttft and decode_total,
// which are filled in (ttft from since_accepted_ms at the first text). working's thread then ends with the answer.
SegmentAnswer answer_segment(const LoadedModel& model, const Turn& turn, const TurnSegment& segment, CacheReport report,
                             const TimingsMs& timings, const at::Tensor& first_logits, Conversation& working, const EmitEvent& emit,
                             const std::function<double()>& since_accepted_ms, const InterruptToken& interrupt);

// The labels of a turn that ended before it had any figures.
Finished interrupted_turn(const Turn& turn);

}  // namespace winnow
