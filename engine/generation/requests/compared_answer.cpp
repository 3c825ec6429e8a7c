#include "engine/generation/requests/compared_answer.h"

#include <utility>

namespace winnow {
namespace {

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

ComparedAnswer::ComparedAnswer(LoadedModel& model, MediaOpener* opener, const ComparedTurn& asked, ColumnScores scores,
                               SharedPrefill& shared, const EmitEvent& say, const InterruptToken& interrupt)
    : model_(model),
      asked_(asked),
      shared_(shared),
      say_(say),
      working_(asked.shared ? shared.full().fork() : Conversation(shared.full().cache.shape())) {
  say_(ColumnStarted{asked.shared.has_value()});
  const ChooseFirst first = sampled_first(model, asked.turn.sampling);
  ReadyTurn ready = asked.shared ? shared.compress(*asked.shared, first, working_, say_)
                                 : prefill_turn(model, opener, asked.turn, first, working_, nullptr, nullptr, say_, interrupt);
  before_ms_ = asked.shared ? shared.waited_ms(*asked.shared) : take_vision_pass(ready.timings, shared.timings());
  if (scores == ColumnScores::kAll && (ready.first_step || !is_full(working_, shared.full()))) {
    start_ = AnswerStart{working_.fork(), ready.first_logits, ready.first_step};
  }
  answer_.emplace(model, asked.turn, std::move(ready), working_, say_, [this] { return elapsed_ms(); });
  before_ms_ = elapsed_ms();
}

bool ComparedAnswer::step(const InterruptToken& interrupt) {
  running_.restart_ms();
  const bool more = answer_->step(interrupt);
  before_ms_ = elapsed_ms();
  return more;
}

void ComparedAnswer::finish() {
  running_.restart_ms();
  Finished finished = answer_->finish();
  text_ = finished.answer;
  say_(std::move(finished));
}

void ComparedAnswer::score(const InterruptToken& interrupt) {
  Scored scored;
  scored.agreement.tokens = std::ssize(working_.answer_ids);
  if (start_) {
    scored = score_answer(model_, working_.answer_ids, text_, std::move(*start_), {shared_.full().fork(), shared_.first_logits(), {}},
                          interrupt);
    start_.reset();
  }
  say_(std::move(scored));
}

}  // namespace winnow
