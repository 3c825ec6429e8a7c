#include "engine/generation/answer/turn_answer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/generation/conversation/cache_figures.h"
#include "engine/messages/interrupted.h"

namespace winnow {
namespace {

void label(TurnFigures& figures, const Turn& turn) {
  figures.method = turn.recipe.method;
  figures.retention = turn.recipe.retention;
  figures.seed = turn.sampling.seed;
}

// The texts of the thread's text tokens up to its answer, those of its documents included.
std::vector<TokenText> texts_of(const Tokenizer& tokenizer, const Conversation& thread) {
  std::vector<TokenText> texts;
  for (std::size_t i = 0; i < thread.origins.size(); ++i) {
    if (thread.origins[i].modality == Modality::kVisual) continue;
    texts.push_back({static_cast<std::int32_t>(i), std::string(tokenizer.token_bytes(thread.token_ids[i]))});
  }
  return texts;
}

// The turn's recipe is one of those that made the cache. It has a say in what is attached where it read some of it, and where it goes on
// choosing among all slots.
void note_maker_of(const Turn& turn, const ReadyTurn& ready, Conversation& conversation) {
  const bool chooses_among_all = turn.recipe.turn_policy == TurnPolicy::kWhole || conversation.decode_policy;
  note_maker(conversation.makers, turn.recipe, ready.tokens.visual > 0 || (chooses_among_all && conversation.media_count > 0));
}

}  // namespace

TurnAnswer::TurnAnswer(const RequestContext& context, const Turn& turn, ReadyTurn ready, std::function<double()> since_asked_ms)
    : turn_(turn), loop_(context, turn.sampling, std::move(ready.start), [this, since = std::move(since_asked_ms)] {
        finished_.figures.timings_ms.ttft = since();
      }) {
  TurnFigures& figures = finished_.figures;
  label(figures, turn);
  note_maker_of(turn, ready, loop_.conversation());
  CacheReport& report = ready.report;
  report.makers = loop_.conversation().makers;
  figures.tokens = ready.tokens;
  figures.timings_ms = ready.timings;
  figures.layers = report.layers;
  figures.kv_bytes = report.kv_bytes;
  figures.notes = report.notes;
  figures.achieved_retention =
      static_cast<double>(report.kv_bytes.after_event) / static_cast<double>(std::max<std::int64_t>(1, report.kv_bytes.full));
  const TokenCounts thread = thread_tokens(report);
  figures.tokens.thread_visual = thread.thread_visual;
  figures.tokens.thread_text = thread.thread_text;
  figures.tokens.unread = thread.unread;
  figures.tokens.pinned = static_cast<std::int64_t>(report.pinned.size());
  report.texts = texts_of(*context.model.tokenizer, loop_.conversation());
  bound_lists(report);
  context.emit(std::move(report));
}

Finished TurnAnswer::finish() {
  Answer answer = loop_.finish();
  Conversation& working = loop_.conversation();
  working.thread = turn_.messages;
  working.settings = turn_.prompt;
  working.thread.push_back({Role::kAssistant, {TextItem{turn_.answer_begun + answer.text}}, turn_.thought_begun + answer.thought});
  std::vector<std::int64_t> ids = loop_.begun().ids;
  ids.insert(ids.end(), answer.token_ids.begin(), answer.token_ids.end());

  TurnFigures& figures = finished_.figures;
  figures.tokens.generated = std::ssize(ids);
  figures.tokens.thought = answer.thought_tokens;
  figures.tokens.drafted = answer.drafted_tokens;
  figures.kv_bytes.end = working.cache.bytes_in_use();
  figures.kv_bytes.allocated = working.cache.bytes_allocated();
  figures.kv_bytes.peak = working.cache.bytes_peak();
  figures.kv_bytes.metadata = metadata_bytes(working);
  figures.kv_bytes.full_end = answer.kv_bytes_full;
  figures.kv_bytes.states = bytes_beside(working.cache);
  for (std::size_t layer = 0; layer < figures.layers.size(); ++layer) figures.layers[layer].end = answer.layers[layer];
  figures.timings_ms.decode_total = answer.decode_total_ms;
  figures.timings_ms.thought = answer.thought_ms;
  figures.tokens_per_s = answer.tokens_per_s;
  finished_.reason = answer.reason;
  finished_.answer = std::move(answer.text);
  finished_.thought = std::move(answer.thought);
  working.answer_ids = std::move(ids);
  working.answer_open = answer.open;
  return std::move(finished_);
}

Finished interrupted_turn(const Turn& turn) {
  Finished finished = interrupted_and_restored();
  label(finished.figures, turn);
  return finished;
}

}  // namespace winnow
