// The probe pass: rows that stand for every later question are run behind the context, and what they look at is the slots' votes.
//
// KVzip (arXiv 2505.23416, sections 3.1 to 3.3) repeats the context; self-study describes it and lets the description vote; see ProbeNeed.
// Everything runs on forks of the cache, so the conversation is bit-identical before and after. Used by prepare_context(), after the
// media. Emits Progress. Errors: Exception, Interrupted. Engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/per_layer.h"
#include "engine/base/token_origin.h"
#include "engine/generation/context/request_context.h"
#include "engine/generation/conversation/conversation.h"
#include "engine/generation/segment/probe_prompts.h"
#include "engine/messages/events.h"
#include "engine/recipes/statistics/layer_statistics.h"

namespace winnow {

// What is probed: the last slots of every head of `state`, whose position is that of the token after them.
struct ProbedContext {
  const Conversation& state;
  at::Tensor embeddings;                 // [n_c, hidden]: as they entered the first layer
  std::span<const TokenOrigin> origins;  // n_c
  const ProbePrompts& prompts;
};

// A clip of media of which earlier clips are compressed already (phase stream): the cache holds what is left of those, and the clip.
struct ProbedClip {
  ProbedContext context;  // embeddings and origins of the clip alone
  // Per layer and kv head: slots before the media, which are not judged.
  const PerLayer<std::vector<std::int64_t>>& before;
};

// Votes per layer and kv head, [kv_heads, n_c], or of the last slots of the context that a layer with a window still holds; told layer by
// layer when all rows have voted. Returns what the model said, if it was to describe.
Description probe_context(const RequestContext& context, const ProbedContext& probed, const ProbeNeed& need,
                          const std::function<void(LayerId layer, HeadScores votes)>& tell);

// The same for all slots of the media that are left, per layer and kv head in slot order; the clip alone is repeated. The words of a
// description name no frames.
Description probe_clip(const RequestContext& context, const ProbedClip& clip, const ProbeNeed& need,
                       const std::function<void(LayerId layer, std::vector<std::vector<float>> votes)>& tell);

// [first, first + count) of the context's tokens: whole frames (rows of an image), at most `most` tokens unless a frame has more; 0: all.
std::vector<std::pair<std::int64_t, std::int64_t>> context_chunks(std::span<const TokenOrigin> origins, std::int64_t most);

}  // namespace winnow
