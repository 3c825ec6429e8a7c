// A request up to its answer: segment, prefill, in some recipes the first token, compression event.
//
// One prefill of the uncached part of a thread, observed by the recipes that will compress it. A turn has one recipe and continues with the
// prefilled conversation itself. Each recipe of a comparison continues with a fork. A score has one recipe or none and also needs the full
// cache. If budgets depend on the prompt and the recipe asks for it, there are two passes: the first frees each layer again, the second
// compacts it. Recipes whose event precedes the question use prepared_turn.h instead. Used by
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

// Says if a layer may be compacted before the next begins.
enum class Compaction : int {
  kLayerByLayer = 1,  // if its budget is known by then; for a single recipe
  kAfterTheLast = 2,  // keeps the whole segment uncompressed until ready()
};

class TurnPrefill {
 public:
  // Prefills the segment. recipes must outlive it. A recipe that prunes or compresses the whole cache must be the only one; a pruning one
  // must also have been passed to begin_turn().
  // Emits Progress. Errors: Exception, Interrupted.
  TurnPrefill(const RequestContext& context, BegunTurn begun, const std::vector<const Recipe*>& recipes, Compaction compaction);
  TurnPrefill(const TurnPrefill&) = delete;
  TurnPrefill& operator=(const TurnPrefill&) = delete;

  // Includes the segment, uncompressed unless layer by layer. Valid until ready().
  const Conversation& conversation() const { return conversation_; }
  const at::Tensor& logits() const { return logits_; }  // fp32 [vocabulary], of the last position
  AnswerStart uncompressed() const { return {conversation_.fork(), logits_, {}}; }
  const TimingsMs& timings() const { return timings_; }  // without any recipe's part
  // The prefill time of a turn under this recipe alone.
  double waited_ms(std::size_t recipe) const { return shared_ms_ + compressions_.at(recipe).statistics_ms(); }

  // Compresses the conversation under the only recipe and moves it out. first: used if the event follows the first answer token.
  ReadyTurn ready(const ChooseFirst& first);
  // Compresses a fork, which shares kept blocks, under recipe number `recipe`; call once each. emit: of the recipe's column.
  ReadyTurn ready_fork(std::size_t recipe, const ChooseFirst& first, const EmitEvent& emit);

 private:
  class Audience;
  double run_layers(Compaction compaction);  // returns the recipes' own time in ms
  // Shows every layer to the hooks' observer, then restores segment and conversation. Returns its time in ms.
  double first_pass(PrefillHooks hooks);
  ReadyTurn finish(SegmentCompression& compression, Conversation working, const ChooseFirst& first, const EmitEvent& emit);

  RequestContext context_;
  Conversation conversation_;
  TurnSegment segment_;
  std::deque<SegmentCompression> compressions_;  // borrow segment_.tokens, so must not move
  at::Tensor logits_;
  TimingsMs timings_;
  double shared_ms_ = 0.0;  // from media to the last layer, without any recipe's statistics
};

}  // namespace winnow
