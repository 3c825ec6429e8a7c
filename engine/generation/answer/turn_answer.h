// Decodes the answer of a prefilled turn, with its figures.
//
// Used by run_turn() and ComparedAnswer. Engine thread only.
#pragma once

#include <functional>
#include <utility>

#include "engine/generation/answer/answer_loop.h"
#include "engine/generation/context/request_context.h"
#include "engine/generation/prefill/turn_prefill.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"

namespace winnow {

// turn.recipe labels the figures.
class TurnAnswer {
 public:
  // Emits the report and adds the turn's recipe to the cache's makers. turn must outlive it. ttft is since_asked_ms() at the first token.
  TurnAnswer(const RequestContext& context, const Turn& turn, ReadyTurn ready, std::function<double()> since_asked_ms);
  TurnAnswer(const TurnAnswer&) = delete;
  TurnAnswer& operator=(const TurnAnswer&) = delete;

  // Like AnswerLoop::step(): false when the answer has ended. Stop keeps the partial answer, Cancel throws Interrupted.
  bool step() { return loop_.step(); }
  // The loop whose steps others may share.
  AnswerLoop& loop() { return loop_; }
  int tokens_left() const { return loop_.tokens_left(); }  // at most
  // Call once, after the last step. The conversation's thread then ends with the answer.
  Finished finish();

  const Conversation& conversation() const { return loop_.conversation(); }
  // After finish().
  Conversation take_conversation() { return std::move(loop_.conversation()); }

 private:
  const Turn& turn_;
  Finished finished_;
  AnswerLoop loop_;
};

// The result of a turn that was interrupted before it had figures.
Finished interrupted_turn(const Turn& turn);

}  // namespace winnow
