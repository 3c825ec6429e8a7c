// Picks the next token from logits where they lie: on the host by Sampler, on a device there, so that its number alone comes back.
//
// Used by AnswerLoop and first_step. Both are one choice (kernels/api/sample_token.h): the same id for the same draw of the same seed. On a
// device two launches, or three where a token is drawn, and one wait. logits: fp32 [vocabulary]. Errors: as Sampler's, and kDeviceFailed.
// Engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/sampling/sampler.h"

namespace winnow {

class TokenChoice {
 public:
  // draws: that the answer has behind it already.
  explicit TokenChoice(const Sampling& settings, std::uint64_t draws = 0)
      : penalises_(settings.repetition_penalty != 1.0), sampler_(settings, draws) {}

  // seen: ids of prompt and answer so far; a call's begin with the ids of the call before.
  std::int64_t choose(const at::Tensor& logits, std::span<const std::int64_t> seen);

 private:
  std::int64_t choose_on_device(const at::Tensor& logits, std::span<const std::int64_t> seen);

  bool penalises_;
  Sampler sampler_;
  at::Tensor workspace_;   // on the logits' device
  at::Tensor was_seen_;    // bool [vocabulary], there
  std::size_t noted_ = 0;  // so many of the seen ids are in it
};

}  // namespace winnow
