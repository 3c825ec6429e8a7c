// The probe pass: query rows that stand for any later question are run after the context, and their attention scores its slots.
//
// KVzip (arXiv 2505.23416, sections 3.1 to 3.3) repeats the context; self-study uses a description of it; see ProbeNeed. Everything runs on
// forks of the cache, so the conversation is bit-identical before and after. Used by prepare_context(), after the
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

// The probed context: the last slots of every head of `state`, which ends with them.
struct ProbedContext {
  const Conversation& state;
  at::Tensor embeddings;                 // [n_c, hidden]: the first layer's input
  std::span<const TokenOrigin> origins;  // n_c
  const ProbePrompts& prompts;
};

// A clip whose earlier clips are compressed already (phase stream): the cache holds their remaining slots, then the clip.
struct ProbedClip {
  ProbedContext context;  // embeddings and origins of the clip alone
  // Per layer and kv head: slots before the media, which are not scored.
  const PerLayer<std::vector<std::int64_t>>& before;
};

// Computes votes per layer, [kv_heads, n_c]; in sliding-window layers of the last slots that the layer still holds. Calls `tell` layer by
// layer after all rows are run. Returns the model's description, if one was requested.
Description probe_context(const RequestContext& context, const ProbedContext& probed, const ProbeNeed& need,
                          const std::function<void(LayerId layer, HeadScores votes)>& tell);

// The same for all remaining media slots, per layer and kv head in slot order. Only the clip is repeated. The words of a description refer
// to no frames.
Description probe_clip(const RequestContext& context, const ProbedClip& clip, const ProbeNeed& need,
                       const std::function<void(LayerId layer, std::vector<std::vector<float>> votes)>& tell);

// Token ranges [first, first + count): whole frames (rows of an image), at most `most` tokens unless a frame has more; 0: no limit.
std::vector<std::pair<std::int64_t, std::int64_t>> context_chunks(std::span<const TokenOrigin> origins, std::int64_t most);

}  // namespace winnow
