#include "engine/generation/comparison_runner.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/stopwatch.h"
#include "engine/generation/answer_score.h"
#include "engine/generation/ready_turn.h"
#include "engine/generation/turn_answer.h"
#include "engine/generation/turn_runner.h"

namespace winnow {
namespace {

struct Column {
  Turn turn;
  Recipe recipe;
  std::optional<std::size_t> shared;  // its number among those that share the prefill
};

std::vector<Column> columns_of(const Compare& compare, const ModelInfo& model) {
  std::vector<Column> columns;
  std::size_t sharing = 0;
  for (const RecipeSpec& spec : compare.recipes) {
    // One after the other: g++ 12 destroys a member twice when a later one of the same braces throws.
    Recipe recipe = recipe_for(spec, model);
    Turn turn;
    turn.conversation = compare.conversation;
    turn.messages = compare.messages;
    turn.sampling = compare.sampling;
    turn.recipe = spec;
    turn.pins = compare.pins;
    Column column{std::move(turn), std::move(recipe), {}};
    if (column.recipe.shares_prefill()) column.shared = sharing++;
    columns.push_back(std::move(column));
  }
  return columns;
}

// Nothing was dropped and nothing will be: its cache is the full cache.
bool is_full(const Conversation& state, const Conversation& full) {
  return !state.decode_policy && state.cache.bytes_in_use() == full.cache.bytes_in_use();
}

// A prefill of its own that found its media's features ready owes them to the shared pass. Returns their time.
double take_vision_pass(TimingsMs& own, const TimingsMs& shared) {
  if (own.vision > 0.0) return 0.0;
  own.media = shared.media;
  own.preprocess = shared.preprocess;
  own.vision = shared.vision;
  return shared.media + shared.preprocess + shared.vision;
}

}  // namespace

Compared ComparisonRunner::run(const Compare& compare, ConversationSlot& slot, const EmitEvent& emit, const InterruptToken& interrupt) {
  require_question(compare.messages);
  if (compare.recipes.empty() || compare.recipes.size() > Compare::kMostRecipes) {
    throw Exception(ErrorCode::kInvalidArgument, "", "a comparison has 1 to " + std::to_string(Compare::kMostRecipes) + " recipes");
  }
  const std::vector<Column> columns = columns_of(compare, model_.network->info());
  std::vector<const Recipe*> sharing;
  for (const Column& column : columns) {
    if (column.shared) sharing.push_back(&column.recipe);
  }
  SharedPrefill shared(model_, opener_, compare.messages, compare.pins, compare.sampling.max_new_tokens, sharing, emit, interrupt);
  const Conversation& full = shared.full();
  Compared compared;
  compared.prefills = 1;
  compared.shared_prefix_bytes = full.cache.bytes_in_use();

  std::vector<ComparedColumn> answered;
  try {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      interrupt.throw_if_requested();
      const Column& column = columns[i];
      const EmitEvent say = emit.for_column(static_cast<std::int32_t>(i));
      say(ColumnStarted{column.shared.has_value()});
      const Stopwatch watch;
      Conversation working = column.shared ? full.fork() : Conversation(full.cache.shape());
      if (!column.shared) ++compared.prefills;
      ReadyTurn ready = column.shared ? shared.compress(*column.shared, working, say)
                                      : prefill_turn(model_, opener_, column.turn, working, nullptr, nullptr, say, interrupt);
      const double waited_ms = column.shared ? shared.waited_ms(*column.shared) : take_vision_pass(ready.timings, shared.timings());
      const bool same_cache = is_full(working, full);
      AnswerStart own{working.fork(), ready.first_logits};
      Finished finished =
          answer_turn(model_, column.turn, std::move(ready), working, say, [&] { return waited_ms + watch.elapsed_ms(); }, interrupt);
      const std::string answer = finished.answer;
      answered.push_back({column.turn.recipe, std::move(working)});
      const std::vector<std::int64_t>& tokens = answered.back().state.answer_ids;
      say(std::move(finished));
      interrupt.throw_if_requested();
      if (compare.scores == ColumnScores::kNone) continue;

      Agreement agreement;
      agreement.tokens = std::ssize(tokens);
      if (!same_cache) {
        agreement = score_answer(model_, tokens, answer, std::move(own), {full.fork(), shared.first_logits()}, interrupt);
      }
      say(Scored{std::move(agreement)});
    }
  } catch (const Interrupted& interrupted) {
    if (interrupted.kind() == Interrupt::kCancel || answered.empty()) throw;
    compared.stopped = true;
  }
  std::vector<const KvCache*> caches = {&full.cache};
  for (const ComparedColumn& column : answered) caches.push_back(&column.state.cache);
  compared.allocated_bytes = bytes_allocated_together(caches);
  slot.columns = std::move(answered);
  return compared;
}

}  // namespace winnow
