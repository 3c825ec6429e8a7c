#include "engine/generation/requests/run_turn.h"

#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/generation/answer/step_together.h"
#include "engine/generation/requests/running_turn.h"

namespace winnow {

void require_question(std::span<const Message> thread) {
  if (thread.empty() || thread.back().role != Role::kUser || thread.back().items.empty()) {
    throw Exception(ErrorCode::kInvalidArgument, "", "a turn must end with a message of the user");
  }
}

namespace {

// The system's messages, then all media of the thread with the last question.
std::vector<Message> asked_alone(std::span<const Message> thread) {
  std::vector<Message> alone;
  Message question{Role::kUser, {}};
  for (const Message& message : thread) {
    if (message.role == Role::kSystem) alone.push_back(message);
    for (const Item& item : message.items) {
      if (std::holds_alternative<MediaItem>(item)) question.items.push_back(item);
    }
  }
  for (const Item& item : thread.back().items) {
    if (std::holds_alternative<TextItem>(item)) question.items.push_back(item);
  }
  alone.push_back(std::move(question));
  return alone;
}

}  // namespace

Turn as_run(const Turn& turn) {
  Turn run = turn;
  if (turn.guard == Guard::kRam) run.recipe.turn_policy = TurnPolicy::kWhole;
  if (turn.guard == Guard::kAlone) run.messages = asked_alone(turn.messages);
  return run;
}

Turn as_asked(const Turn& turn) {
  Turn asked = as_run(turn);
  asked.answer_begun.clear();
  asked.thought_begun.clear();
  return asked;
}

Compaction compaction_of(const Turn& turn) { return turn.guard == Guard::kRam ? Compaction::kAfterTheLast : Compaction::kLayerByLayer; }

Finished run_turn(const RequestContext& context, const Turn& asked, ConversationStates& states) {
  try {
    RunningTurn running(context, asked, states);
    std::vector<RunningTurn*> going = {&running};
    while (!going.empty()) step_together(context.network(), going, [](RunningTurn&) {});
    return running.finish();
  } catch (const Interrupted&) {
    return interrupted_turn(asked);  // nothing was said yet, or nothing shall have happened
  }
}

}  // namespace winnow
