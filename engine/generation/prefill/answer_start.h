// A prefilled conversation, ready to decode. Made by TurnPrefill, consumed by AnswerLoop and score_answer(). Engine thread only.
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

// The tokens of an interrupted answer that is continued.
struct BegunAnswer {
  std::vector<std::int64_t> ids;
  std::size_t read = 0;  // how many of them are cached
};

struct AnswerStart {
  Conversation state;
  at::Tensor logits;                    // fp32 [vocabulary], of the last cached position; undefined while `begun` has uncached tokens
  std::optional<FirstStep> first_step;  // the answer's first token, if `state` holds it already
  BegunAnswer begun{};

  // Ids of the cached tokens before the answer.
  std::span<const std::int64_t> prompt_tokens() const {
    const std::size_t answered = first_step ? 1 : begun.read;
    return std::span(state.token_ids).first(state.token_ids.size() - answered);
  }
  AnswerStart fork() const { return {state.fork(), logits, first_step, begun}; }
};

}  // namespace winnow
