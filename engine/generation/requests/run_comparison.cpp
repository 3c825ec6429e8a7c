#include "engine/generation/requests/run_comparison.h"

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/generation/answer/step_together.h"
#include "engine/generation/prefill/turn_prefill.h"
#include "engine/generation/requests/compared_answer.h"
#include "engine/generation/requests/run_turn.h"

namespace winnow {

Turn column_turn(const Compare& compare, const RecipeSpec& recipe) {
  Turn turn;
  turn.conversation = compare.conversation;
  turn.messages = compare.messages;
  turn.sampling = compare.sampling;
  turn.recipe = recipe;
  turn.guard = Guard::kPrefill;
  turn.pins = compare.pins;
  turn.prompt = compare.prompt;
  return turn;
}

namespace {

std::vector<ComparedTurn> turns_of(const Compare& compare, const LoadedModel& model, const ConversationStates& states) {
  std::vector<ComparedTurn> turns;
  std::size_t sharing = 0;
  for (const RecipeSpec& spec : compare.recipes) {
    // One after the other: g++ 12 destroys a member twice when a later one of the same braces throws.
    Recipe recipe = recipe_for(spec, model.network->info());
    ComparedTurn asked{column_turn(compare, spec), std::move(recipe), {}, nullptr};
    const bool as_much = spec.before == compare.recipes.front().before;  // of the media is read
    if (asked.recipe.shares_prefill() && as_much) asked.shared = sharing++;
    asked.reads_as_first = as_much;
    if (std::holds_alternative<FromPrepared>(start_of(states, asked.turn, model))) asked.prepared = &*states.prepared;
    turns.push_back(std::move(asked));
  }
  return turns;
}

using Columns = std::deque<ComparedAnswer>;  // they stay where they are

}  // namespace

Compared run_comparison(const RequestContext& context, const Compare& compare, ConversationStates& states) {
  require_question(compare.messages);
  if (compare.recipes.empty() || compare.recipes.size() > Compare::kMostRecipes) {
    throw Exception(ErrorCode::kInvalidArgument, "", "a comparison has 1 to " + std::to_string(Compare::kMostRecipes) + " recipes");
  }
  const std::vector<ComparedTurn> turns = turns_of(compare, context.model, states);
  std::vector<const Recipe*> sharing;
  for (const ComparedTurn& asked : turns) {
    if (asked.shared) sharing.push_back(&asked.recipe);
  }
  Conversation empty(context.network().text().kv_shape());
  TurnPrefill shared(context, begin_turn(context, turns.front().turn, nullptr, std::move(empty)), sharing, Compaction::kAfterTheLast);
  Compared compared;
  compared.prefills = 1;
  compared.shared_prefix_bytes = shared.conversation().cache.bytes_in_use();

  Columns columns;
  std::size_t answered = 0;
  const auto begin = [&] {
    context.interrupt.throw_if_requested();
    const ComparedTurn& asked = turns[columns.size()];
    columns.emplace_back(context.for_column(static_cast<std::int32_t>(columns.size())), asked, compare.scores, shared);
    if (columns.back().read_media()) ++compared.prefills;
  };
  const auto finish = [&](ComparedAnswer& column) {
    column.finish();
    ++answered;
  };
  const auto score = [&](ComparedAnswer& column) {
    context.interrupt.throw_if_requested();
    if (compare.scores == ColumnScores::kAll) column.score();
  };
  try {
    if (compare.order == ColumnOrder::kInterleaved) {
      while (columns.size() < turns.size()) begin();
      // Stop ends all of them at their next step.
      std::vector<ComparedAnswer*> going;
      for (ComparedAnswer& column : columns) going.push_back(&column);
      while (!going.empty()) step_together(context.network(), going, finish);
      for (ComparedAnswer& column : columns) score(column);
    } else {
      while (columns.size() < turns.size()) {
        begin();
        while (columns.back().step()) {
        }
        finish(columns.back());
        score(columns.back());
      }
    }
  } catch (const Interrupted& interrupted) {
    if (interrupted.kind() == Interrupt::kCancel || answered == 0) throw;
    compared.stopped = true;
  }
  while (columns.size() > answered) columns.pop_back();
  std::vector<const KvCache*> caches = {&shared.conversation().cache};
  for (const ComparedAnswer& column : columns) caches.push_back(&column.cache());
  compared.allocated_bytes = bytes_allocated_together(caches);
  states.columns.clear();
  for (ComparedAnswer& column : columns) states.columns.push_back(column.take());
  return compared;
}

}  // namespace winnow
