#include "engine/generation/requests/run_score.h"

#include <optional>
#include <utility>
#include <vector>

#include "engine/generation/answer/answer_score.h"
#include "engine/generation/prefill/turn_prefill.h"
#include "engine/generation/reading/prepared_turn.h"
#include "engine/generation/requests/run_turn.h"

namespace winnow {
namespace {

struct AskedAnswer {
  GivenAnswer given;
  bool known = false;  // these were its very tokens
  TurnStart start;     // of the turn that gave it
};

AskedAnswer answer_of(const LoadedModel& model, const Turn& turn, const Score& score, const ConversationStates& states) {
  const std::vector<Message>& thread = turn.messages;
  const TurnStart start = start_of(states, turn, model);
  const std::string& text = score.answer;
  const Message answer{Role::kAssistant, {TextItem{text}}, score.thought};
  if (states.current && holds_answer(*states.current, thread, answer)) return {{states.current->answer_ids, text}, true, start};
  const ComparedColumn* found = nullptr;
  for (const ComparedColumn& column : states.columns) {
    if (!holds_answer(column.state, thread, answer)) continue;
    if (found == nullptr || column.recipe == turn.recipe) found = &column;
  }
  if (found != nullptr) return {{found->state.answer_ids, text}, true, TurnStart()};  // comparisons start from nothing
  return {{written_tokens(model, ThoughtStart::kUnsaid, score.thought, text), text}, false, start};
}

}  // namespace

Scored run_score(const RequestContext& context, const Score& score, const ConversationStates& states) {
  require_question(score.turn.messages);
  Turn turn = as_run(score.turn);
  AskedAnswer asked = answer_of(context.model, turn, score, states);
  turn.sampling.max_new_tokens = static_cast<int>(asked.given.tokens.size());
  const Recipe recipe = recipe_for(turn.recipe, context.network().info());
  const bool one_prefill = asked.start.from == TurnStart::From::kNothing && recipe.shares_prefill();
  std::vector<const Recipe*> sharing;
  if (one_prefill) sharing.push_back(&recipe);
  Conversation empty(context.network().text().kv_shape());
  TurnPrefill whole(context, begin_turn(context, turn, nullptr, std::move(empty)), sharing, Compaction::kAfterTheLast);
  const ThoughtStart prompt_end = thought_start(context.model, whole.conversation().token_ids);
  if (!asked.known && prompt_end == ThoughtStart::kOpened)
    asked.given.tokens = written_tokens(context.model, prompt_end, score.thought, score.answer);

  const ChooseFirst first = given_first(asked.given.tokens);
  const auto own = [&] {
    if (one_prefill) return whole.ready_fork(0, first, context.emit);
    if (std::optional<ReadyTurn> ready = ready_if_prepared(context, turn, states, asked.start)) return *std::move(ready);
    Conversation start = fork_start(states, asked.start, context.network(), turn.recipe);
    return ready_single_turn(context, turn, recipe, std::move(start), first);
  };
  return score_answer(context, asked.given, own().start, whole.uncompressed());
}

}  // namespace winnow
