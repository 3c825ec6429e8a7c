// The teacher-forced pass: an answer's tokens through its own cache and through the full one, compared token by token.
//
// Used by ComparedAnswer for columns and by run_score() for one answer. Only two distributions are held at a time. Engine thread only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/generation/context/request_context.h"
#include "engine/generation/prefill/answer_start.h"
#include "engine/messages/events.h"

namespace winnow {

struct GivenAnswer {
  std::vector<std::int64_t> tokens;  // including the end token, if known
  std::string text;
};

// Consumes own and full. Throws Interrupted for Stop as well as Cancel. Throws Exception(kNumericFailure) on logits that are not finite.
Scored score_answer(const RequestContext& context, const GivenAnswer& answer, AnswerStart own, AnswerStart full);

}  // namespace winnow
