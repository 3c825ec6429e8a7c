// One column of a comparison: its event, its answer a token at a time, its score.
//
// Used by ComparisonRunner, which says when each takes its turn. Time is counted while the column works only, so that the figures of
// columns that take turns are their own. Engine thread only.
#pragma once

#include <optional>

#include "engine/base/interrupt.h"
#include "engine/base/stopwatch.h"
#include "engine/generation/answer/answer_score.h"
#include "engine/generation/answer/turn_answer.h"
#include "engine/generation/context/loaded_model.h"
#include "engine/generation/conversation/conversation_states.h"
#include "engine/generation/prefill/ready_turn.h"
#include "engine/media/frame_source.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"

namespace winnow {

// What a column is asked.
struct ComparedTurn {
  Turn turn;
  Recipe recipe;
  std::optional<std::size_t> shared;  // its number among those that share the prefill; none: one of its own
};

class ComparedAnswer {
 public:
  // Emits ColumnStarted and the report. model, asked and shared must outlive it. scores: whether score() will be called. Errors: Exception,
  // Interrupted.
  ComparedAnswer(LoadedModel& model, MediaOpener* opener, const ComparedTurn& asked, ColumnScores scores, SharedPrefill& shared,
                 const EmitEvent& say, const InterruptToken& interrupt);

  // The next token; false when the answer has come to its end.
  bool step(const InterruptToken& interrupt);
  // Emits Finished. Once, after the last step.
  void finish();
  // Emits Scored. After finish(). Errors: Exception, Interrupted.
  void score(const InterruptToken& interrupt);

  const KvCache& cache() const { return working_.cache; }
  ComparedColumn take() { return {asked_.turn.recipe, std::move(working_)}; }

 private:
  double elapsed_ms() const { return before_ms_ + running_.elapsed_ms(); }

  LoadedModel& model_;
  const ComparedTurn& asked_;
  const SharedPrefill& shared_;
  EmitEvent say_;
  Conversation working_;
  double before_ms_ = 0.0;            // while it worked, and what a turn of its own would have waited for
  Stopwatch running_;                 // since its turn began
  std::optional<AnswerStart> start_;  // for the score; none: its cache is the full cache, or nobody will ask
  std::optional<TurnAnswer> answer_;
  std::string text_;
};

}  // namespace winnow
