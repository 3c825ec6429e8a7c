// The teacher-forced pass: an answer's tokens through the full cache, and through its own where that is at hand, compared token by token.
//
// Used by ComparedAnswer for columns and by run_score() for one answer. Only two distributions are held at a time. Engine thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/generation/context/request_context.h"
#include "engine/generation/prefill/answer_start.h"
#include "engine/messages/events.h"

namespace winnow {

struct GivenAnswer {
  std::vector<std::int64_t> tokens;  // including the end token, if it has one
  std::string text;
  // How the model sampled it. Null: it did not write it, and the choices of `own` are compared with the full cache's, not its tokens.
  const Sampling* written_by = nullptr;
};

// Consumes own and full. own: nullopt if the cache that wrote the answer is gone; the verdict is the same without it. Throws Interrupted
// for Stop as well as Cancel. Throws Exception(kNumericFailure) on logits that are not finite.
Scored score_answer(const RequestContext& context, const GivenAnswer& answer, std::optional<AnswerStart> own, AnswerStart full);

}  // namespace winnow
