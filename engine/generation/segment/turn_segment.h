// The new part of a thread as the decoder reads it: embeddings, positions, and what is known about every token.
//
// Made once per prefill by prepare_segment(), read by segment_prefill.h and segment_compression.h. Engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/interrupt.h"
#include "engine/generation/context/loaded_model.h"
#include "engine/generation/context/turn_trace.h"
#include "engine/generation/conversation/conversation.h"
#include "engine/media/frame_source.h"
#include "engine/messages/events.h"
#include "engine/metrics/machine_speed.h"
#include "engine/recipes/recipe.h"
#include "engine/recipes/segment_info.h"

namespace winnow {

struct TurnSegment {
  at::Tensor hidden;     // [n, hidden]; the prefill replaces it layer by layer and lets it go
  at::Tensor positions;  // int64 [axes, n], on the model's device
  std::vector<std::int64_t> token_ids;
  std::vector<TokenOrigin> origins;
  std::vector<Modality> modality;       // as in origins
  std::vector<std::int32_t> originals;  // original token indices of the rows of `hidden`
  std::int64_t visual_tokens = 0;
  bool pins_above_budget = false;  // where tokens were pruned before the decoder
  TurnWork work;                   // what this segment takes, for predictions
  std::int32_t first_original = 0;

  std::int64_t tokens() const { return static_cast<std::int64_t>(origins.size()); }
};

// Opens media (headers first, so that a prompt that does not fit is refused before anything is decoded), builds the prompt of the messages
// that `working` does not hold yet, encodes media and puts everything together. The tokens are added to working's origins and ids; its
// cache and position are left to the prefill. pins: of the whole thread; those of new media become working's pinned tokens. A recipe (may
// be null) that prunes before the decoder has its way here. Emits Progress and MediaSampled. opener and trace may be null. Errors:
// Exception, Interrupted.
TurnSegment prepare_segment(LoadedModel& model, MediaOpener* opener, std::span<const Message> thread, std::span<const Pin> pins,
                            int max_new_tokens, const Recipe* recipe, Conversation& working, TimingsMs& timings, TurnTrace* trace,
                            const EmitEvent& emit, const InterruptToken& interrupt);

// A segment as compression sees it, after what `working` holds; modality and working's pinned tokens must outlive what is made from the
// result.
SegmentInfo segment_info(std::span<const Modality> modality, std::int32_t first_original, const ModelInfo& model,
                         const Conversation& working);

}  // namespace winnow
