// The first answer token, decoded on the uncompressed cache for recipes whose event follows it (as in MEDA's and D2O's released code).
//
// Used by TurnPrefill; AnswerLoop and score_answer() then continue with the second token. Engine thread only.
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

// Returns the answer's first token from the prompt's last logits; nullopt if the answer ends with it, so that it is never decoded.
using ChooseFirst = std::function<std::optional<std::int64_t>(const at::Tensor& prompt_logits, const Conversation& conversation)>;
// Samples the first token as AnswerLoop does. model and sampling must outlive the result.
ChooseFirst sampled_first(const LoadedModel& model, const Sampling& sampling);
// For a given answer.
ChooseFirst given_first(std::span<const std::int64_t> answer);

// Decodes it if the compressor awaits it: appends to cache, origins and ids, and shows its attention to the compressor. Returns nullopt if
// the event concerns the prompt alone.
std::optional<FirstStep> read_first_token(const VisionLanguageModel& network, SegmentCompressor& compressor, const ChooseFirst& choose,
                                          const at::Tensor& prompt_logits, Conversation& working);

}  // namespace winnow
