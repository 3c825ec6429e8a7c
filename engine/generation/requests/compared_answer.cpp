#include "engine/generation/requests/compared_answer.h"

#include <optional>
#include <utility>

#include "engine/generation/context/cache_shape.h"
#include "engine/generation/reading/prepared_turn.h"

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

ComparedAnswer::ComparedAnswer(const RequestContext& context, const ComparedTurn& asked, ColumnScores scores, TurnPrefill& shared)
    : context_(context), asked_(asked), shared_(shared) {
  context_.emit(ColumnStarted{asked.shared.has_value()});
  ReadyTurn turn = ready(shared);
  if (asked.shared) before_ms_ = shared.waited_ms(*asked.shared);
  if (read_media_) before_ms_ = take_vision_pass(turn.timings, shared.timings());
  const bool full = !turn.start.first_step && asked.reads_as_first && is_full(turn.start.state, shared.conversation());
  if (scores == ColumnScores::kAll && !full) {
    start_ = turn.start.fork();
  }
  answer_.emplace(context_, asked.turn, std::move(turn), [this] { return elapsed_ms(); });
  before_ms_ = elapsed_ms();
}

ReadyTurn ComparedAnswer::ready(TurnPrefill& shared) {
  const ChooseFirst first = sampled_first(context_.model, asked_.turn.sampling);
  if (asked_.shared) return shared.ready_fork(*asked_.shared, first, context_.emit);
  if (asked_.prepared != nullptr) return ready_prepared_turn(context_, asked_.turn, *asked_.prepared);
  read_media_ = true;
  Conversation empty(cache_shape(context_.network(), asked_.turn.recipe));
  return ready_single_turn(context_, asked_.turn, asked_.recipe, std::move(empty), first);
}

bool ComparedAnswer::step() {
  running_.restart_ms();
  const bool more = answer_->step();
  before_ms_ = elapsed_ms();
  return more;
}

bool ComparedAnswer::begin_step() {
  running_.restart_ms();
  const bool more = answer_->loop().begin_step();
  before_ms_ = elapsed_ms();
  return more;
}

std::optional<TokenToRead> ComparedAnswer::unread() { return answer_->loop().unread(); }

void ComparedAnswer::end_step(const TokenToRead& read, double elapsed_ms) {
  if (read.failure) std::rethrow_exception(read.failure);
  answer_->loop().end_step(read, elapsed_ms);
}

void ComparedAnswer::finish() {
  running_.restart_ms();
  Finished finished = answer_->finish();
  text_ = finished.answer;
  context_.emit(std::move(finished));
}

void ComparedAnswer::score() {
  const std::vector<std::int64_t>& tokens = answer_->conversation().answer_ids;
  Scored scored;
  scored.agreement.tokens = std::ssize(tokens);
  scored.agreement.same = scored.agreement.tokens;
  scored.agreement.mean_kl = 0.0;
  if (start_) {
    std::optional<TurnPrefill> own;  // the full cache of what this column has read
    if (!asked_.reads_as_first) {
      Conversation empty(context_.network().text().kv_shape());
      own.emplace(context_, begin_turn(context_, asked_.turn, nullptr, std::move(empty)), std::vector<const Recipe*>(),
                  Compaction::kAfterTheLast);
    }
    scored = score_answer(context_, {tokens, text_, &asked_.turn.sampling}, *std::move(start_), (own ? *own : shared_).uncompressed());
    start_.reset();
  }
  context_.emit(std::move(scored));
}

}  // namespace winnow
