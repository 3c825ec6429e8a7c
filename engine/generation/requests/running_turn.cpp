#include "engine/generation/requests/running_turn.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/base/error.h"
#include "engine/generation/reading/prepared_turn.h"
#include "engine/generation/requests/run_turn.h"
#include "engine/generation/segment/thread_text.h"
#include "engine/text/text_bounds.h"

namespace winnow {
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

RunningTurn::RunningTurn(const RequestContext& context, const Turn& asked, ConversationStates& states)
    : since_asked_(asked), context_(context), turn_(as_run(asked)), states_(states) {
  require_question(turn_.messages);
  StartedTurn started = get_ready(context_, turn_, states_);
  begin_answer(context_, turn_, started.ready.start);
  start_ = started.start;
  full_ = std::move(started.full);
  work_ = started.ready.work;
  notes_ = untold(context_, turn_, start_, states_);
  std::vector<CompressionNote>& told = started.ready.report.notes;
  told.insert(told.end(), notes_.begin(), notes_.end());
  started.ready.timings.waited = since_asked_.waited_ms();
  answer_.emplace(context_, turn_, std::move(started.ready), [this] { return since_asked_.elapsed_ms(); });
}

bool RunningTurn::begin_step() {
  if (failure_) return false;
  try {
    const TextBounds bounds(context_.interrupt);
    return answer_->loop().begin_step();
  } catch (...) {
    failure_ = std::current_exception();
    return false;
  }
}

std::optional<TokenToRead> RunningTurn::unread() {
  AnswerLoop& loop = answer_->loop();
  return has_company_ ? loop.unread() : loop.unread_with_draft();
}

void RunningTurn::end_step(const TokenToRead& read, double elapsed_ms) {
  try {
    if (read.failure) std::rethrow_exception(read.failure);
    answer_->loop().end_step(read, elapsed_ms);
  } catch (...) {
    failure_ = std::current_exception();
  }
}

std::int64_t RunningTurn::bytes_to_come() const { return answer_->conversation().cache.shape().full_bytes(answer_->tokens_left()); }

Finished RunningTurn::finish() {
  try {
    if (failure_) std::rethrow_exception(failure_);
    Finished finished = answer_->finish();
    if (context_.trace != nullptr) context_.trace->generated = answer_->conversation().answer_ids;
    keep_turn(states_, start_, answer_->take_conversation());
    if (full_) keep_full(states_, *std::move(full_));
    states_.told.insert(states_.told.end(), notes_.begin(), notes_.end());
    const bool drafted = finished.figures.tokens.drafted > 0;  // then it is no measure of other answers
    if (!has_company_) context_.model.speed.add(work_, finished.figures.timings_ms, drafted ? 0.0 : finished.figures.tokens_per_s);
    return finished;
  } catch (const Interrupted&) {
    return interrupted_turn(turn_);
  }
}

}  // namespace winnow
