// A question that is being answered: read when it is made, then decoded token by token, alone or in steps that others share.
//
// Used by run_turn() and TurnsTogether. It works on a fork, which replaces the conversation when the answer has ended, or was stopped after
// its first token; Cancel and errors leave the conversation unchanged. Engine thread only.
#pragma once

#include <exception>
#include <optional>
#include <vector>

#include "engine/generation/answer/asked_clock.h"
#include "engine/generation/answer/turn_answer.h"
#include "engine/generation/context/request_context.h"
#include "engine/generation/conversation/decode_step.h"
#include "engine/generation/requests/conversation_states.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"

namespace winnow {

class RunningTurn {
 public:
  // Emits everything up to the report. states: of the turn's conversation; outlive it, and nobody else changes them meanwhile. Errors:
  // Exception, Interrupted.
  RunningTurn(const RequestContext& context, const Turn& asked, ConversationStates& states);
  RunningTurn(const RunningTurn&) = delete;
  RunningTurn& operator=(const RunningTurn&) = delete;

  // The halves of a step, as AnswerLoop has them. Failures are kept for finish(): others may share the step.
  bool begin_step();
  std::optional<TokenToRead> unread();
  void end_step(const TokenToRead& read, double elapsed_ms);
  // Others run beside it, so that its times say nothing of this machine's speed.
  void note_company() { has_company_ = true; }
  // K and V of the tokens that it may still decode.
  std::int64_t bytes_to_come() const;
  // Keeps the conversation. Once, after the last step. Errors: Exception.
  Finished finish();

 private:
  const AskedClock since_asked_;
  const RequestContext context_;
  const Turn turn_;  // with its guard applied
  ConversationStates& states_;
  TurnStart start_;
  std::optional<Conversation> full_;  // guard ram
  TurnWork work_;
  std::vector<CompressionNote> notes_;
  std::optional<TurnAnswer> answer_;
  std::exception_ptr failure_;
  bool has_company_ = false;
};

}  // namespace winnow
