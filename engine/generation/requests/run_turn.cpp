#include "engine/generation/requests/turn_runner.h"

#include <optional>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/stopwatch.h"
#include "engine/generation/answer/turn_answer.h"
#include "engine/generation/prefill/ready_turn.h"

namespace winnow {

void require_question(std::span<const Message> thread) {
  if (thread.empty() || thread.back().role != Role::kUser || thread.back().items.empty()) {
    throw Exception(ErrorCode::kInvalidArgument, "", "a turn must end with a message of the user");
  }
}

namespace {

TurnStart kept_start(const Turn& turn, const ConversationStates& states) {
  return turn.guard == Guard::kPrefill ? TurnStart() : start_of(states, turn);
}

}  // namespace

Turn as_run(const Turn& turn) {
  Turn run = turn;
  if (turn.guard == Guard::kRam) run.recipe.turn_policy = TurnPolicy::kWhole;
  return run;
}

Conversation start_of_turn(const Turn& turn, const ConversationStates& states, const KvShape& shape) {
  if (turn.guard != Guard::kRam) return fork_start(states, kept_start(turn, states), shape);
  const Conversation* const before = full_start(states, turn.messages, turn.pins);
  return before != nullptr ? before->fork() : Conversation(shape);
}

Finished TurnRunner::run(const Turn& turn, ConversationStates& states, const EmitEvent& emit, TurnTrace* trace,
                         const InterruptToken& interrupt) {
  require_question(turn.messages);
  if (turn.guard == Guard::kRam) return run_from_full(turn, states, emit, trace, interrupt);
  const Stopwatch since_accepted;
  const TurnStart start = kept_start(turn, states);
  Conversation working = fork_start(states, start, model_.network->text().kv_shape());
  try {
    ReadyTurn ready = prefill_turn(model_, opener_, turn, sampled_first(model_, turn.sampling), working, nullptr, trace, emit, interrupt);
    const TurnWork work = ready.work;
    Finished finished = answer_turn(
        model_, turn, std::move(ready), working, emit, [&] { return since_accepted.elapsed_ms(); }, interrupt);
    if (trace != nullptr) trace->generated = working.answer_ids;
    keep_turn(states, start, std::move(working));
    model_.speed.add(work, finished.figures.timings_ms, finished.figures.tokens_per_s);
    return finished;
  } catch (const Interrupted& interrupted) {
    // Nothing was said yet (Stop), or nothing shall have happened (Cancel): the conversation stays as it was.
    return interrupted_turn(turn);
  }
}

// The last answer and the new question are read on top of the full cache, and all of it is compressed for the question.
Finished TurnRunner::run_from_full(const Turn& turn, ConversationStates& states, const EmitEvent& emit, TurnTrace* trace,
                                   const InterruptToken& interrupt) {
  const Stopwatch since_accepted;
  const Turn whole = as_run(turn);
  const KvShape shape = model_.network->text().kv_shape();
  Conversation working = start_of_turn(turn, states, shape);
  working.cache = working.cache.on_device(shape.device);
  try {
    std::optional<Conversation> full;
    ReadyTurn ready = prefill_turn(model_, opener_, whole, sampled_first(model_, whole.sampling), working, &full, trace, emit, interrupt);
    const TurnWork work = ready.work;
    Finished finished = answer_turn(
        model_, whole, std::move(ready), working, emit, [&] { return since_accepted.elapsed_ms(); }, interrupt);
    if (trace != nullptr) trace->generated = working.answer_ids;
    keep_turn(states, TurnStart(), std::move(working));
    keep_full(states, std::move(*full));
    model_.speed.add(work, finished.figures.timings_ms, finished.figures.tokens_per_s);
    return finished;
  } catch (const Interrupted& interrupted) {
    return interrupted_turn(turn);
  }
}

}  // namespace winnow
