// A conversation that is about to answer. Made by TurnPrefill, used up by AnswerLoop and score_answer(). Engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <optional>

#include "engine/generation/conversation/conversation.h"
#include "engine/generation/prefill/first_step.h"

namespace winnow {

struct AnswerStart {
  Conversation state;
  at::Tensor logits;                    // fp32 [vocabulary], of the last prompt position
  std::optional<FirstStep> first_step;  // what `state` holds of the answer already

  AnswerStart fork() const { return {state.fork(), logits, first_step}; }
};

}  // namespace winnow
