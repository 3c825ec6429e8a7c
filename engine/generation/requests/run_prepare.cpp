#include "engine/generation/requests/run_prepare.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/stopwatch.h"
#include "engine/generation/conversation/cache_figures.h"
#include "engine/generation/reading/prepared_turn.h"
#include "engine/generation/requests/run_turn.h"

namespace winnow {

Prepared run_prepare(const RequestContext& context, const Turn& asked, ConversationStates& states) {
  require_question(asked.messages);
  const std::vector<Item>& items = asked.messages.back().items;
  if (std::none_of(items.begin(), items.end(), [](const Item& item) { return std::holds_alternative<MediaItem>(item); })) {
    throw Exception(ErrorCode::kInvalidArgument, "", "there is nothing to prepare: the message has no images or videos");
  }
  const Stopwatch watch;
  const Turn turn = as_asked(asked);
  const ModelInfo& info = context.network().info();
  const Recipe recipe = recipe_for(turn.recipe, info);
  const TurnStart start = start_of(states, turn, context.model);
  bool compressed = std::holds_alternative<FromPrepared>(start);
  if (!compressed) {
    BegunTurn begun = begin_turn(context, turn, &recipe, fork_start(states, start, context.network(), turn.recipe));
    if (auto prepared = prepare_context(context, turn, recipe, begun)) {
      context.model.speed.add(prepared->work, prepared->timings, 0.0);
      states.prepared = std::move(prepared);
      compressed = true;
    }
  }
  if (compressed) {
    CacheReport report = prepared_report(*states.prepared);
    bound_lists(report);
    context.emit(std::move(report));
  }
  return {compressed, watch.elapsed_ms()};
}

}  // namespace winnow
