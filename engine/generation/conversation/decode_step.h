// One token through the model over a conversation's cache; decode-phase methods evict in the same step.
//
// Used by AnswerLoop, by answer_score.h to repeat what it did, and by plan_turn() to count a step without making it. Engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "engine/generation/conversation/conversation.h"
#include "engine/models/vision_language_model.h"

namespace winnow {

// Appends the token to cache, origins and ids. Returns fp32 [vocabulary], on the model's device. listener (may be null) is shown every
// layer before anything leaves it.
at::Tensor decode_step(const VisionLanguageModel& model, Conversation& conversation, std::int64_t token,
                       DecodeObserver* listener = nullptr);

// The same with nothing leaving the cache; observer may be null.
at::Tensor append_step(const VisionLanguageModel& model, Conversation& conversation, std::int64_t token, DecodeObserver* observer);

// What decode_step() does to origins, ids, positions and the numbers of slots, without a model: the token's keys and values are zeros, and
// it attends to nothing. For a fork whose slots are counted and then dropped.
void count_step(Conversation& conversation, std::int64_t token);

}  // namespace winnow
