// One token through the model over a conversation's cache, or one each of several; decode-phase methods evict in the same step. Drafted
// tokens, which may follow it, are read with it and taken back if they do not.
//
// Used by AnswerLoop, by answer_score.h to replay it, and by plan_turn() to count a step without running it. Engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <exception>
#include <span>
#include <vector>

#include "engine/generation/conversation/conversation.h"
#include "engine/models/vision_language_model.h"

namespace winnow {

// Appends the token to cache, origins and ids. Returns fp32 [vocabulary], on the model's device. listener (may be null) sees every layer
// before eviction.
at::Tensor decode_step(const VisionLanguageModel& model, Conversation& conversation, std::int64_t token,
                       DecodeObserver* listener = nullptr);

// A token that a conversation is to read, and what comes of it.
struct TokenToRead {
  Conversation* conversation;
  std::int64_t token = 0;
  std::vector<std::int64_t> draft{};                     // to be read behind it; only where can_take_back()
  at::Tensor logits{};                                   // fp32 [1 + draft, vocabulary], on the model's device
  at::Tensor hidden{};                                   // [1 + draft, hidden], StepRow's; undefined where a model has no draft head
  std::vector<std::vector<LayerState>> states_before{};  // of each drafted token, StepRow's; empty ones where layers keep no states
  double drafting_ms = 0.0;                              // that the draft took
  std::exception_ptr failure{};                          // of this conversation alone, whose cache is then spoilt
};

// decode_step() of several conversations, by one step of the model. Errors: those that are all conversations'.
void decode_step_together(const VisionLanguageModel& model, std::span<TokenToRead> tokens);

// True if the last tokens of the conversation can be taken back: on a CPU, where no layer has a window or slots that tokens share, and
// nothing is evicted or merged while decoding.
bool can_take_back(const Conversation& conversation);
// How many tokens behind the next one leave wide blocks of its cache as they are (KvShape::wide_ends): one that has become codes does not
// come back.
std::int64_t draft_before_rounding(const KvCache& cache);
// The conversation without its last tokens, as if they had not been read. Only where can_take_back(). before: the states before the first
// of them, TokenToRead's.
void take_back(Conversation& conversation, std::int64_t tokens, const std::vector<LayerState>& before);

// decode_step() without eviction; observer may be null.
at::Tensor append_step(const VisionLanguageModel& model, Conversation& conversation, std::int64_t token, DecodeObserver* observer);

// Like decode_step() for origins, ids, positions and slot counts, without running the model: keys and values are zeros, attention is empty.
// For a fork that is dropped after counting its slots.
void count_step(Conversation& conversation, std::int64_t token);

}  // namespace winnow
