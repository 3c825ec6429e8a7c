#include "engine/generation/turn_runner.h"

#include <utility>

#include "engine/base/error.h"
#include "engine/base/stopwatch.h"
#include "engine/generation/message_equality.h"
#include "engine/generation/segment_answer.h"
#include "engine/generation/segment_event.h"
#include "engine/generation/segment_prefill.h"
#include "engine/generation/turn_segment.h"

namespace winnow {
namespace {

// Earlier messages that `conversation` already holds; 0 if it stands for another thread.
std::size_t cached_messages(const std::optional<Conversation>& conversation, const std::vector<Message>& thread) {
  if (!conversation || conversation->thread.empty() || conversation->thread.size() + 1 != thread.size()) return 0;
  for (std::size_t i = 0; i < conversation->thread.size(); ++i) {
    if (!same_message(conversation->thread[i], thread[i])) return 0;
  }
  return conversation->thread.size();
}

}  // namespace

void require_question(const Turn& turn) {
  if (turn.messages.empty() || turn.messages.back().role != Role::kUser || turn.messages.back().items.empty()) {
    throw Exception(ErrorCode::kInvalidArgument, "", "a turn must end with a message of the user");
  }
}

Finished TurnRunner::run(const Turn& turn, ConversationSlot& slot, const EmitEvent& emit, TurnTrace* trace, const InterruptToken& interrupt) {
  require_question(turn);
  const bool continues = cached_messages(slot.current, turn.messages) > 0;
  const bool again = !continues && cached_messages(slot.before_last, turn.messages) > 0;
  Conversation working = continues  ? slot.current->fork()
                         : again    ? slot.before_last->fork()
                                    : Conversation(model_.network->text().kv_shape());
  try {
    Finished finished = run_on(working, turn, emit, trace, interrupt);
    if (continues) slot.before_last = std::move(slot.current);
    if (!continues && !again) slot.before_last.reset();
    slot.current = std::move(working);
    return finished;
  } catch (const Interrupted& interrupted) {
    // Nothing was said yet (Stop), or nothing shall have happened (Cancel): the conversation stays as it was.
    return interrupted_turn(turn);
  }
}

Finished TurnRunner::run_on(Conversation& working, const Turn& turn, const EmitEvent& emit, TurnTrace* trace, const InterruptToken& interrupt) {
  const Stopwatch since_accepted;
  const VisionLanguageModel& network = *model_.network;
  const Recipe recipe = recipe_for(turn.recipe, network.info());
  TimingsMs timings;
  TurnSegment segment =
      prepare_segment(model_, opener_, turn.messages, turn.sampling.max_new_tokens, working, timings, trace, emit, interrupt);

  // Layer by layer; a layer whose budget is known gives its memory back before the next begins.
  SegmentEvent event(recipe, segment_info(segment, network.info(), working));
  working.cache.reset_peak();
  const bool all_rows = trace != nullptr && trace->wanted == TraceLogits::kAllPositions;
  SegmentPrefill prefill = prefill_segment(
      network.text(), segment, working, &event.compressor(), [&](std::int64_t layers_done) { event.compact_ready(working, layers_done); },
      all_rows ? LogitRows::kAll : LogitRows::kLast, emit, interrupt);
  timings.statistics = event.statistics_ms();
  timings.prefill = prefill.elapsed_ms - event.statistics_ms() - event.compress_ms();
  event.finish(working, emit);
  timings.compress = event.compress_ms();

  CacheReport report = event.report(working, network.info());
  if (trace != nullptr) {
    trace->input_ids = at::tensor(segment.token_ids, at::kLong);
    trace->position_ids = segment.positions.to(at::kCPU).contiguous();
    trace->logits = prefill.logits.to(at::kCPU, /*non_blocking=*/false, /*copy=*/true);
    trace->kept = report.kept;
  }
  const at::Tensor first_logits = prefill.last_logits();
  prefill.logits.reset();
  SegmentAnswer answer = answer_segment(model_, turn, segment, std::move(report), timings, first_logits, working, emit,
                                        [&] { return since_accepted.elapsed_ms(); }, interrupt);
  if (trace != nullptr) trace->generated = std::move(answer.token_ids);
  return std::move(answer.finished);
}

}  // namespace winnow
