// The first answer token, read on the uncompressed cache by recipes whose event comes after it (as MEDA's and D2O's released code does).
//
// Used by TurnPrefill, which knows when; AnswerLoop and score_answer() then go on from the second token. Engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "engine/compression/segment_compressor.h"
#include "engine/generation/context/loaded_model.h"
#include "engine/generation/conversation/conversation.h"
#include "engine/sampling/sampling.h"

namespace winnow {

struct FirstStep {
  std::int64_t token = 0;
  at::Tensor logits;  // fp32 [vocabulary], of the token's position
  double elapsed_ms = 0.0;
};

// Says the answer's first token from the prompt's last logits, before the conversation holds it; nothing if it will not be read because the
// answer ends with it.
using ChooseFirst = std::function<std::optional<std::int64_t>(const at::Tensor& prompt_logits, const Conversation& conversation)>;
// As AnswerLoop samples it. model and sampling must outlive the result.
ChooseFirst sampled_first(const LoadedModel& model, const Sampling& sampling);
// Of an answer that is there already.
ChooseFirst given_first(std::span<const std::int64_t> answer);

// Reads it if the compressor awaits it, appended to cache, origins and ids; shows its attention to the compressor. None: the event is about
// the prompt alone.
std::optional<FirstStep> read_first_token(const VisionLanguageModel& network, SegmentCompressor& compressor, const ChooseFirst& choose,
                                          const at::Tensor& prompt_logits, Conversation& working);

}  // namespace winnow
