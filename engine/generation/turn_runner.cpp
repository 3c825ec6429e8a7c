#include "engine/generation/turn_runner.h"

#include <utility>

#include "engine/base/error.h"
#include "engine/base/stopwatch.h"
#include "engine/generation/ready_turn.h"
#include "engine/generation/turn_answer.h"

namespace winnow {

void require_question(std::span<const Message> thread) {
  if (thread.empty() || thread.back().role != Role::kUser || thread.back().items.empty()) {
    throw Exception(ErrorCode::kInvalidArgument, "", "a turn must end with a message of the user");
  }
}

Finished TurnRunner::run(const Turn& turn, ConversationSlot& slot, const EmitEvent& emit, TurnTrace* trace, const InterruptToken& interrupt) {
  require_question(turn.messages);
  const Stopwatch since_accepted;
  const TurnStart start = turn.guard == Guard::kPrefill ? TurnStart() : start_of(slot, turn.messages, turn.recipe);
  Conversation working = fork_start(slot, start, model_.network->text().kv_shape());
  try {
    ReadyTurn ready = prefill_turn(model_, opener_, turn, working, trace, emit, interrupt);
    Finished finished =
        answer_turn(model_, turn, std::move(ready), working, emit, [&] { return since_accepted.elapsed_ms(); }, interrupt);
    if (trace != nullptr) trace->generated = working.answer_ids;
    keep_turn(slot, start, std::move(working));
    return finished;
  } catch (const Interrupted& interrupted) {
    // Nothing was said yet (Stop), or nothing shall have happened (Cancel): the conversation stays as it was.
    return interrupted_turn(turn);
  }
}

}  // namespace winnow
