// A conversation that is about to answer. Made by TurnPrefill, used up by AnswerLoop and score_answer(). Engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/generation/conversation/conversation.h"
#include "engine/generation/prefill/first_step.h"

namespace winnow {

// Tokens that an answer begins with, of an earlier turn that was cut.
struct BegunAnswer {
  std::vector<std::int64_t> ids;
  std::size_t read = 0;  // so many of them the state holds already
};

struct AnswerStart {
  Conversation state;
  at::Tensor logits;                    // fp32 [vocabulary], of the last position read; undefined where `begun` has more to read
  std::optional<FirstStep> first_step;  // what `state` holds of the answer already
  BegunAnswer begun{};

  // Ids of what the state held before the answer.
  std::span<const std::int64_t> prompt_tokens() const {
    const std::size_t answered = first_step ? 1 : begun.read;
    return std::span(state.token_ids).first(state.token_ids.size() - answered);
  }
  AnswerStart fork() const { return {state.fork(), logits, first_step, begun}; }
};

}  // namespace winnow
