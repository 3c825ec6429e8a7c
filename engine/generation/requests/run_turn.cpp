#include "engine/generation/requests/run_turn.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/generation/answer/asked_clock.h"
#include "engine/generation/answer/turn_answer.h"
#include "engine/generation/prefill/turn_prefill.h"
#include "engine/generation/reading/prepared_turn.h"
#include "engine/generation/segment/thread_text.h"

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

namespace {

// prompt: the tokens that the answer follows.
std::vector<std::int64_t> begun_ids(const RequestContext& context, const Turn& turn, std::span<const std::int64_t> prompt) {
  if (begins_anew(turn)) return {};
  return written_tokens(context.model, thought_start(context.model, prompt), turn.thought_begun, turn.answer_begun);
}

struct StartedTurn {
  ReadyTurn ready;
  TurnStart start;
  std::optional<Conversation> full;  // guard ram: what the next question goes on from
};

// Nothing is read but what the cut answer's cache lacks, and nothing is compressed.
ReadyTurn ready_where_cut(const RequestContext& context, const Turn& turn, const Conversation& cut) {
  Conversation working = cut.fork();
  require_context(context, turn, working.next_position + 1);
  working.cache.reset_peak();
  const auto layers = static_cast<std::size_t>(working.cache.shape().layers);
  EventOutcome nothing;
  nothing.why.resize(layers);
  nothing.best_scores.resize(layers);
  CacheReport report = cache_report(nothing, working);
  BegunAnswer begun{working.answer_ids, working.answer_ids.size() - 1};
  return {{std::move(working), {}, {}, std::move(begun)}, std::move(report), {}, {}, {}};
}

// The prefill's observers are gone afterwards. Media that are compressed before the question stay prepared for others.
StartedTurn get_ready(const RequestContext& context, const Turn& turn, ConversationStates& states) {
  const TurnStart start = start_of(states, turn, context.model);
  if (const auto* cut = std::get_if<FromCut>(&start)) return {ready_where_cut(context, turn, *cut->state), start, {}};
  if (std::holds_alternative<FromPrepared>(start)) return {ready_prepared_turn(context, turn, *states.prepared), start, {}};
  const Recipe recipe = recipe_for(turn.recipe, context.network().info());
  BegunTurn begun = begin_turn(context, turn, &recipe, fork_start(states, start, context.network(), turn.recipe));
  if (auto prepared = prepare_context(context, turn, recipe, begun)) {
    states.prepared = std::move(prepared);
    return {ready_context_turn(context, turn, *states.prepared), start, {}};
  }
  TurnPrefill prefill(context, std::move(begun), {&recipe}, compaction_of(turn));
  std::optional<Conversation> full;
  if (turn.guard == Guard::kRam) {
    full = prefill.conversation().fork();
    full->thread = turn.messages;
  }
  const std::vector<std::int64_t> given = begun_ids(context, turn, prefill.conversation().token_ids);
  return {prefill.ready(given.empty() ? sampled_first(context.model, turn.sampling) : given_first(given)), start, std::move(full)};
}

// Reads the answer that is continued as it was written: after the event, a token at a time.
void begin_answer(const RequestContext& context, const Turn& turn, AnswerStart& start) {
  if (begins_anew(turn) || !start.begun.ids.empty()) return;
  start.begun.ids = begun_ids(context, turn, start.prompt_tokens());
  require_context(context, turn, start.state.next_position + std::ssize(start.begun.ids));
}

// Notes that are made once a conversation, and were not made yet.
std::vector<CompressionNote> untold(const RequestContext& context, const Turn& turn, const TurnStart& start,
                                    const ConversationStates& states) {
  std::vector<CompressionNote> notes;
  if (is_rewritten(start)) notes.push_back(CompressionNote::kThreadReadAgain);
  if (system_joins_question(context.model, turn.messages)) notes.push_back(CompressionNote::kSystemJoinsQuestion);
  std::erase_if(notes, [&](CompressionNote note) { return std::ranges::find(states.told, note) != states.told.end(); });
  return notes;
}

}  // namespace

Finished run_turn(const RequestContext& context, const Turn& asked, ConversationStates& states) {
  require_question(asked.messages);
  const AskedClock since_asked(asked);
  const Turn turn = as_run(asked);
  try {
    StartedTurn started = get_ready(context, turn, states);
    begin_answer(context, turn, started.ready.start);
    const TurnWork work = started.ready.work;
    const std::vector<CompressionNote> notes = untold(context, turn, started.start, states);
    std::vector<CompressionNote>& told = started.ready.report.notes;
    told.insert(told.end(), notes.begin(), notes.end());
    started.ready.timings.waited = since_asked.waited_ms();
    TurnAnswer answer(context, turn, std::move(started.ready), [&] { return since_asked.elapsed_ms(); });
    while (answer.step()) {
    }
    Finished finished = answer.finish();
    if (context.trace != nullptr) context.trace->generated = answer.conversation().answer_ids;
    keep_turn(states, started.start, answer.take_conversation());
    if (started.full) keep_full(states, *std::move(started.full));
    states.told.insert(states.told.end(), notes.begin(), notes.end());
    context.model.speed.add(work, finished.figures.timings_ms, finished.figures.tokens_per_s);
    return finished;
  } catch (const Interrupted& interrupted) {
    // Nothing was said yet (Stop), or nothing shall have happened (Cancel): the conversation stays as it was.
    return interrupted_turn(asked);
  }
}

}  // namespace winnow
