#include "engine/generation/requests/run_turn.h"

#include <optional>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/stopwatch.h"
#include "engine/generation/answer/turn_answer.h"

namespace winnow {

void require_question(std::span<const Message> thread) {
  if (thread.empty() || thread.back().role != Role::kUser || thread.back().items.empty()) {
    throw Exception(ErrorCode::kInvalidArgument, "", "a turn must end with a message of the user");
  }
}

Turn as_run(const Turn& turn) {
  Turn run = turn;
  if (turn.guard == Guard::kRam) run.recipe.turn_policy = TurnPolicy::kWhole;
  return run;
}

Compaction compaction_of(const Turn& turn) { return turn.guard == Guard::kRam ? Compaction::kAfterTheLast : Compaction::kLayerByLayer; }

namespace {

struct PreparedTurn {
  ReadyTurn ready;
  std::optional<Conversation> full;  // guard ram: what the next question goes on from
};

// What watched the prefill is gone afterwards.
PreparedTurn prepare(const RequestContext& context, const Turn& turn, Conversation working) {
  const Recipe recipe = recipe_for(turn.recipe, context.network().info());
  TurnPrefill prefill(context, turn, std::move(working), {&recipe}, compaction_of(turn));
  std::optional<Conversation> full;
  if (turn.guard == Guard::kRam) {
    full = prefill.conversation().fork();
    full->thread = turn.messages;
  }
  return {prefill.ready(sampled_first(context.model, turn.sampling)), std::move(full)};
}

}  // namespace

Finished run_turn(const RequestContext& context, const Turn& asked, ConversationStates& states) {
  require_question(asked.messages);
  const Stopwatch since_accepted;
  const Turn turn = as_run(asked);
  const TurnStart start = start_of(states, turn);
  try {
    PreparedTurn prepared = prepare(context, turn, fork_start(states, start, context.network().text().kv_shape()));
    const TurnWork work = prepared.ready.work;
    TurnAnswer answer(context, turn, std::move(prepared.ready), [&] { return since_accepted.elapsed_ms(); });
    while (answer.step()) {
    }
    Finished finished = answer.finish();
    if (context.trace != nullptr) context.trace->generated = answer.conversation().answer_ids;
    keep_turn(states, start, answer.take_conversation());
    if (prepared.full) keep_full(states, *std::move(prepared.full));
    context.model.speed.add(work, finished.figures.timings_ms, finished.figures.tokens_per_s);
    return finished;
  } catch (const Interrupted& interrupted) {
    // Nothing was said yet (Stop), or nothing shall have happened (Cancel): the conversation stays as it was.
    return interrupted_turn(asked);
  }
}

}  // namespace winnow
