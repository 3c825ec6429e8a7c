// From a turn that is ready to the finished answer with its figures.
//
// Used by TurnRunner and ComparisonRunner. Engine thread only.
#pragma once

#include <functional>

#include "engine/base/interrupt.h"
#include "engine/generation/answer/answer_loop.h"
#include "engine/generation/context/loaded_model.h"
#include "engine/generation/prefill/ready_turn.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"

namespace winnow {

// The answer of a turn, a token at a time. turn.recipe is what the figures are labelled with.
class TurnAnswer {
 public:
  // Emits the report. model, turn and working must outlive it. ttft is what since_accepted_ms says at the first text.
  TurnAnswer(const LoadedModel& model, const Turn& turn, ReadyTurn ready, Conversation& working, const EmitEvent& emit,
             std::function<double()> since_accepted_ms);
  TurnAnswer(const TurnAnswer&) = delete;
  TurnAnswer& operator=(const TurnAnswer&) = delete;

  // As AnswerLoop: false when the answer has come to its end. Stop gives what there is, Cancel throws Interrupted.
  bool step(const InterruptToken& interrupt) { return loop_.step(interrupt); }
  // Once, after the last step. working's thread then ends with the answer.
  Finished finish();

 private:
  const Turn& turn_;
  Conversation& working_;
  Finished finished_;
  AnswerLoop loop_;
};

// All of it in one go.
Finished answer_turn(const LoadedModel& model, const Turn& turn, ReadyTurn ready, Conversation& working, const EmitEvent& emit,
                     const std::function<double()>& since_accepted_ms, const InterruptToken& interrupt);

// The labels of a turn that ended before it had any figures.
Finished interrupted_turn(const Turn& turn);

}  // namespace winnow
