// From a turn that is ready to the finished answer with its figures.
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

// The answer of a turn, a token at a time. turn.recipe is what the figures are labelled with.
class TurnAnswer {
 public:
  // Emits the report, and notes the turn's recipe among the cache's makers. turn must outlive it. ttft is what since_asked_ms says at the
  // first token.
  TurnAnswer(const RequestContext& context, const Turn& turn, ReadyTurn ready, std::function<double()> since_asked_ms);
  TurnAnswer(const TurnAnswer&) = delete;
  TurnAnswer& operator=(const TurnAnswer&) = delete;

  // As AnswerLoop: false when the answer has come to its end. Stop gives what there is, Cancel throws Interrupted.
  bool step() { return loop_.step(); }
  // Once, after the last step. The conversation's thread then ends with the answer.
  Finished finish();

  const Conversation& conversation() const { return loop_.conversation(); }
  // After finish().
  Conversation take_conversation() { return std::move(loop_.conversation()); }

 private:
  const Turn& turn_;
  Finished finished_;
  AnswerLoop loop_;
};

// The labels of a turn that ended before it had any figures.
Finished interrupted_turn(const Turn& turn);

}  // namespace winnow
