// Samples the next token on the logits' device: on the host by Sampler, on a GPU by a kernel, so that only the id is copied back.
//
// Used by AnswerLoop and first_step. Both give the same id for the same draw of the same seed (kernels/api/sample_token.h). On a GPU: two
// launches (three with temperature) and one synchronisation. logits: fp32 [vocabulary]. Errors: as Sampler's, and kDeviceFailed. Engine
// thread only.
#pragma once

#include <ATen/ATen.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/sampling/sampler.h"

namespace winnow {

class TokenChoice {
 public:
  // draws: random draws that the answer has used so far.
  explicit TokenChoice(const Sampling& settings, std::uint64_t draws = 0)
      : penalises_(settings.repetition_penalty != 1.0), sampler_(settings, draws) {}

  // seen: ids of prompt and answer so far; each call's must extend those of the call before.
  std::int64_t choose(const at::Tensor& logits, std::span<const std::int64_t> seen);

 private:
  std::int64_t choose_on_device(const at::Tensor& logits, std::span<const std::int64_t> seen);

  bool penalises_;
  Sampler sampler_;
  at::Tensor workspace_;   // on the logits' device
  at::Tensor was_seen_;    // bool [vocabulary], there
  std::size_t noted_ = 0;  // number of seen ids in was_seen_
};

}  // namespace winnow
