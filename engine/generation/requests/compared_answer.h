// One column of a comparison: its event, its answer token by token, its score.
//
// Used and scheduled by run_comparison(). Time counts only while the column works, so that interleaved columns have figures of their own.
// Engine thread only.
#pragma once

#include <optional>
#include <string>

#include "engine/base/stopwatch.h"
#include "engine/generation/answer/answer_score.h"
#include "engine/generation/answer/turn_answer.h"
#include "engine/generation/context/request_context.h"
#include "engine/generation/conversation/decode_step.h"
#include "engine/generation/prefill/turn_prefill.h"
#include "engine/generation/requests/conversation_states.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"
#include "engine/recipes/recipe.h"

namespace winnow {

// The turn of a column.
struct ComparedTurn {
  Turn turn;
  Recipe recipe;
  std::optional<std::size_t> shared;  // index among the columns that share the prefill; nullopt: a prefill of its own
  const PreparedContext* prepared;    // its prepared media, for the thread's first question; null: not prepared
  bool reads_as_first = true;         // RecipeSpec::before is the first column's, so that the shared prefill is its full cache
};

class ComparedAnswer {
 public:
  // Emits ColumnStarted and the report. context: of the column. asked and shared must outlive it. scores: whether score() will be called.
  // Errors: Exception, Interrupted.
  ComparedAnswer(const RequestContext& context, const ComparedTurn& asked, ColumnScores scores, TurnPrefill& shared);

  // Decodes the next token; false when the answer has ended. begin_step() and those behind it: as AnswerLoop's, for columns together.
  bool step();
  bool begin_step();
  std::optional<TokenToRead> unread();
  void end_step(const TokenToRead& read, double elapsed_ms);
  // Emits Finished. Once, after the last step.
  void finish();
  // Emits Scored. After finish(). Errors: Exception, Interrupted.
  void score();

  bool read_media() const { return read_media_; }  // in a prefill of its own
  const KvCache& cache() const { return answer_->conversation().cache; }
  ComparedColumn take() { return {asked_.turn.recipe, answer_->take_conversation()}; }

 private:
  ReadyTurn ready(TurnPrefill& shared);
  double elapsed_ms() const { return before_ms_ + running_.elapsed_ms(); }

  RequestContext context_;
  const ComparedTurn& asked_;
  const TurnPrefill& shared_;
  double before_ms_ = 0.0;            // while it worked, and what a turn of its own would have waited for
  Stopwatch running_;                 // since its turn began
  std::optional<AnswerStart> start_;  // for the score; nullopt if its cache is the full cache, or if there is no score
  std::optional<TurnAnswer> answer_;
  bool read_media_ = false;
  std::string text_;
};

}  // namespace winnow
