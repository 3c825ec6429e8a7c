#include "engine/generation/requests/run_score.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "engine/generation/answer/answer_score.h"
#include "engine/generation/conversation/answer_text.h"
#include "engine/generation/prefill/turn_prefill.h"
#include "engine/generation/reading/prepared_turn.h"
#include "engine/generation/requests/run_turn.h"

namespace winnow {
namespace {

struct AskedAnswer {
  std::optional<std::vector<std::int64_t>> tokens;  // the very tokens, of a cache in memory that ends with this answer
  // The state that its turn goes on from. nullopt: the cache that wrote it is gone, and what would be read now might be another one.
  std::optional<TurnStart> start;
};

// Every state after a first answer depends on what was asked before, under which recipe and from which cache.
bool follows_an_answer(const Turn& turn) {
  return turn.guard == Guard::kKeep &&
         std::ranges::any_of(turn.messages, [](const Message& message) { return message.role == Role::kAssistant; });
}

AskedAnswer find_answer(const LoadedModel& model, const Turn& turn, const Score& score, const ConversationStates& states) {
  const std::vector<Message>& thread = turn.messages;
  const Message answer{Role::kAssistant, {TextItem{score.answer}}, score.thought};
  const ComparedColumn* found = nullptr;
  for (const ComparedColumn& column : states.columns) {
    if (!holds_answer(column.state, thread, answer)) continue;
    if (found == nullptr || column.recipe == turn.recipe) found = &column;
  }
  const bool current = states.current && holds_answer(*states.current, thread, answer);
  if (!current && found != nullptr) return {found->state.answer_ids, TurnStart()};  // comparisons start from nothing
  AskedAnswer asked;
  if (current) asked.tokens = states.current->answer_ids;
  const TurnStart start = start_of(states, turn, model);
  const bool remembered = current && !std::holds_alternative<FromNothing>(start);
  if (!score.ended || remembered || !follows_an_answer(turn)) asked.start = start;
  return asked;
}

std::vector<std::int64_t> encoded(const LoadedModel& model, const Score& score, ThoughtStart prompt_end) {
  std::vector<std::int64_t> tokens = written_tokens(model, prompt_end, score.thought, score.answer);
  if (score.ended == StopReason::kStopToken && !model.stop_token_ids.empty()) tokens.push_back(*model.stop_token_ids.begin());
  return tokens;
}

}  // namespace

Scored run_score(const RequestContext& context, const Score& score, const ConversationStates& states) {
  require_question(score.turn.messages);
  Turn turn = as_asked(score.turn);
  AskedAnswer asked = find_answer(context.model, turn, score, states);
  turn.sampling.max_new_tokens =
      static_cast<int>(std::ssize(asked.tokens ? *asked.tokens : encoded(context.model, score, ThoughtStart::kUnsaid)));
  const Recipe recipe = recipe_for(turn.recipe, context.network().info());
  const bool one_prefill = asked.start && std::holds_alternative<FromNothing>(*asked.start) && recipe.shares_prefill();
  std::vector<const Recipe*> sharing;
  if (one_prefill) sharing.push_back(&recipe);
  Conversation empty(context.network().text().kv_shape());
  TurnPrefill whole(context, begin_turn(context, turn, nullptr, std::move(empty)), sharing, Compaction::kAfterTheLast);
  GivenAnswer given{{}, score.answer, score.ended ? &score.turn.sampling : nullptr};
  given.tokens =
      asked.tokens ? *std::move(asked.tokens) : encoded(context.model, score, thought_start(context.model, whole.conversation().token_ids));

  const ChooseFirst first = given_first(given.tokens);
  const auto own = [&]() -> std::optional<AnswerStart> {
    if (!asked.start) return std::nullopt;
    if (one_prefill) return whole.ready_fork(0, first, context.emit).start;
    if (std::holds_alternative<FromPrepared>(*asked.start)) return ready_prepared_turn(context, turn, *states.prepared).start;
    Conversation start = fork_start(states, *asked.start, context.network(), turn.recipe);
    return ready_single_turn(context, turn, recipe, std::move(start), first).start;
  };
  return score_answer(context, given, own(), whole.uncompressed());
}

}  // namespace winnow
