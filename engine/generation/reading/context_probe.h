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
#include "engine/compression/statistics/probe_votes.h"
#include "engine/generation/context/request_context.h"
#include "engine/generation/conversation/conversation.h"
#include "engine/generation/segment/probe_prompts.h"
#include "engine/layers/layer_view.h"
#include "engine/messages/events.h"
#include "engine/recipes/statistics/layer_statistics.h"

namespace winnow {

// The probed context: the last slots of every head of `state`, which ends with them.
struct ProbedContext {
  const Conversation& state;
  at::Tensor embeddings;                 // [n_c, hidden]: the first layer's input
  std::span<const TokenOrigin> origins;  // n_c
  const ProbePrompts& prompts;
  const PerLayer<at::Tensor>* as_read = nullptr;  // ContextReading's votes, if the need has judged_as_read()
};

// Watches the prefill of a context for judged_as_read(). Another observer, borrowed, watches it, too.
class ContextReading : public PrefillObserver {
 public:
  // need: may be null. rows: norms are the need's.
  ContextReading(PrefillObserver& other, const ProbeNeed* need, const RowsAsRead& rows, std::int64_t layers);
  bool wants_views() const override { return judges() || other_.wants_views(); }
  bool wants_outputs() const override { return judges() && rows_.norms; }
  ReceivedNeed wants_received() const override { return other_.wants_received(); }
  void on_layer(const LayerView& view) override;
  // [kv_heads, slots] per layer, as votes_as_read() has them; null: nothing was judged.
  const PerLayer<at::Tensor>* votes() const { return judges() ? &votes_ : nullptr; }
  double elapsed_ms() const { return elapsed_ms_; }  // of the votes

 private:
  bool judges() const { return !votes_.empty(); }
  PrefillObserver& other_;
  RowsAsRead rows_;
  PerLayer<at::Tensor> votes_;
  double elapsed_ms_ = 0.0;
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
