// The decode loop: samples tokens, turns them into text, watches for the end.
//
// Used by TurnRunner after the compression event. One token a step over the ragged cache; decode-phase methods evict in the same step.
// Stop ends the loop and keeps what is there; Cancel throws Interrupted. Throws Exception(kNumericFailure) on NaN logits: the text so
// far was already emitted. Engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "engine/api/events.h"
#include "engine/base/interrupt.h"
#include "engine/generation/conversation.h"
#include "engine/models/vision_language_model.h"
#include "engine/sampling/sampling.h"
#include "engine/text/tokenizer.h"

namespace winnow {

struct Answer {
  StopReason reason = StopReason::kStopToken;
  std::string text;
  std::vector<std::int64_t> token_ids;  // generated, the stop token included
  std::vector<SlotCounts> layers;       // slots in use per layer at the end
  double decode_total_ms = 0.0;
  double tokens_per_s = 0.0;  // from the median step, first step left out
};

class AnswerLoop {
 public:
  AnswerLoop(const VisionLanguageModel& model, const Tokenizer& tokenizer, const std::set<std::int64_t>& stop_token_ids)
      : model_(model), tokenizer_(tokenizer), stop_token_ids_(stop_token_ids) {}

  // first_logits: fp32 [vocabulary] on any device, of the last prompt position. Generated tokens that the model has read are appended to
  // the conversation's cache, origins and ids. on_first_text runs before the first delta.
  Answer run(const at::Tensor& first_logits, const Sampling& sampling, Conversation& conversation, const EmitEvent& emit,
             const std::function<void()>& on_first_text, const InterruptToken& interrupt) const;

 private:
  const VisionLanguageModel& model_;
  const Tokenizer& tokenizer_;
  const std::set<std::int64_t>& stop_token_ids_;
};

}  // namespace winnow
