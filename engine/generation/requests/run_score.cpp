#include "engine/generation/requests/score_runner.h"

#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/generation/answer/answer_score.h"
#include "engine/generation/prefill/ready_turn.h"
#include "engine/generation/requests/turn_runner.h"

namespace winnow {
namespace {

struct GivenAnswer {
  std::vector<std::int64_t> tokens;
  TurnStart start;  // of the turn that gave it
};

GivenAnswer given_answer(const LoadedModel& model, const Score& score, const ConversationStates& states) {
  const std::vector<Message>& thread = score.turn.messages;
  const TurnStart start = start_of(states, score.turn);
  if (states.current && holds_answer(*states.current, thread, score.answer)) return {states.current->answer_ids, start};
  const ComparedColumn* found = nullptr;
  for (const ComparedColumn& column : states.columns) {
    if (!holds_answer(column.state, thread, score.answer)) continue;
    if (found == nullptr || column.recipe == score.turn.recipe) found = &column;
  }
  if (found != nullptr) return {found->state.answer_ids, TurnStart()};  // comparisons start from nothing
  return {model.tokenizer->encode(score.answer, SpecialText::kAsText), start};
}

}  // namespace

Scored ScoreRunner::run(const Score& score, const ConversationStates& states, const EmitEvent& emit, const InterruptToken& interrupt) {
  const Turn& turn = score.turn;
  require_question(turn.messages);
  const GivenAnswer given = given_answer(model_, score, states);
  const Recipe recipe = recipe_for(turn.recipe, model_.network->info());
  const bool one_prefill = given.start.from == TurnStart::From::kNothing && recipe.shares_prefill();
  std::vector<const Recipe*> sharing;
  if (one_prefill) sharing.push_back(&recipe);
  SharedPrefill shared(model_, opener_, turn.messages, turn.pins, static_cast<int>(given.tokens.size()), sharing, emit, interrupt);

  Conversation working = one_prefill ? shared.full().fork() : fork_start(states, given.start, shared.full().cache.shape());
  const ChooseFirst first = given_first(given.tokens);
  ReadyTurn ready = one_prefill ? shared.compress(0, first, working, emit)
                                : prefill_turn(model_, opener_, turn, first, working, nullptr, nullptr, emit, interrupt);
  AnswerStart own{std::move(working), std::move(ready.first_logits), std::move(ready.first_step)};
  return score_answer(model_, given.tokens, score.answer, std::move(own), {shared.full().fork(), shared.first_logits(), {}}, interrupt);
}

}  // namespace winnow
