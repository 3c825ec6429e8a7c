// The way of every request that answers, up to the answer: segment, prefill, maybe the first token, event.
//
// One prefill of what a conversation does not hold yet, watched by the recipes that will compress it. A turn has one recipe and goes on
// with the prefilled conversation itself; a comparison has several, each of which goes on with a fork; a score has one or none and needs
// the full cache beside. Where budgets follow the prompt and the recipe asks for it, the prefill is two passes: the first lets each layer
// go again, the second compacts it. Recipes whose event comes before the question go the way of context_turn.h instead. Used by
// engine/generation/requests. Engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <cstddef>
#include <deque>
#include <vector>

#include "engine/generation/context/request_context.h"
#include "engine/generation/prefill/answer_start.h"
#include "engine/generation/prefill/first_step.h"
#include "engine/generation/prefill/ready_turn.h"
#include "engine/generation/prefill/segment_compression.h"
#include "engine/generation/prefill/segment_prefill.h"
#include "engine/generation/segment/turn_segment.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"

namespace winnow {

// Whether a layer may be compacted before the next begins.
enum class Compaction : int {
  kLayerByLayer = 1,  // where its budget is known by then; of one recipe
  kAfterTheLast = 2,  // so that the whole segment can be had uncompressed
};

class TurnPrefill {
 public:
  // Reads the segment. recipes must outlive it; one that prunes or compresses the whole cache is alone, and one that prunes was with
  // begin_turn() already.
  // Emits Progress. Errors: Exception, Interrupted.
  TurnPrefill(const RequestContext& context, BegunTurn begun, const std::vector<const Recipe*>& recipes, Compaction compaction);
  TurnPrefill(const TurnPrefill&) = delete;
  TurnPrefill& operator=(const TurnPrefill&) = delete;

  // With the segment, uncompressed unless layer by layer; until ready().
  const Conversation& conversation() const { return conversation_; }
  const at::Tensor& logits() const { return logits_; }  // fp32 [vocabulary], of the last position
  AnswerStart uncompressed() const { return {conversation_.fork(), logits_, {}}; }
  const TimingsMs& timings() const { return timings_; }  // without any recipe's part
  // What a turn under this recipe alone would have waited for the prefill.
  double waited_ms(std::size_t recipe) const { return shared_ms_ + compressions_.at(recipe).statistics_ms(); }

  // Compresses the conversation under the only recipe and gives it away. first: asked where the event comes after the first answer token.
  ReadyTurn ready(const ChooseFirst& first);
  // Compresses a fork, which shares what it keeps, under recipe number `recipe`; each once. emit: who speaks of it.
  ReadyTurn ready_fork(std::size_t recipe, const ChooseFirst& first, const EmitEvent& emit);

 private:
  class Audience;
  double run_layers(Compaction compaction);  // says what the recipes took, in ms
  // Shows every layer to the hooks' observer and leaves segment and conversation as they were. In ms.
  double first_pass(PrefillHooks hooks);
  ReadyTurn finish(SegmentCompression& compression, Conversation working, const ChooseFirst& first, const EmitEvent& emit);

  RequestContext context_;
  Conversation conversation_;
  TurnSegment segment_;
  std::deque<SegmentCompression> compressions_;  // borrow the segment's tokens; they stay where they are
  at::Tensor logits_;
  TimingsMs timings_;
  double shared_ms_ = 0.0;  // from media to the last layer, without any recipe's statistics
};

}  // namespace winnow
