// The teacher-forced pass: an answer's tokens through its own cache and through the full one, compared token by token.
//
// Used by ComparisonRunner for its columns and by ScoreRunner for one answer. Only two distributions are held at a time. Engine thread
// only.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "engine/base/interrupt.h"
#include "engine/generation/context/loaded_model.h"
#include "engine/generation/conversation/conversation.h"
#include "engine/generation/prefill/first_step.h"
#include "engine/messages/events.h"

namespace winnow {

// A conversation that is about to answer.
struct AnswerStart {
  Conversation state;
  at::Tensor logits;                    // fp32 [vocabulary], of the last prompt position
  std::optional<FirstStep> first_step;  // what `state` holds of the answer already
};

// own, full: forks, used up. Throws Interrupted for Stop too: half a score is none. Throws Exception(kNumericFailure) on logits that are
// not finite.
Scored score_answer(const LoadedModel& model, std::span<const std::int64_t> tokens, const std::string& answer, AnswerStart own,
                    AnswerStart full, const InterruptToken& interrupt);

}  // namespace winnow
