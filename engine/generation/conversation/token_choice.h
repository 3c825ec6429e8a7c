// Picks the next token from logits where they lie: on the host by Sampler, on a device there, so that its number alone comes back.
//
// Used by AnswerLoop and first_step. On a device: libtorch's operators in fp64, Sampler's order and rules, the same draw of the same seed;
// sums are taken in another order, so that a draw within rounding of the border between two tokens may fall to the other side. One wait a
// choice. logits: fp32 [vocabulary]. Errors: as Sampler's. Engine thread only.
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
  explicit TokenChoice(const Sampling& settings, std::uint64_t draws = 0) : settings_(settings), sampler_(settings, draws) {}

  // seen: ids of prompt and answer so far; a call's begin with the ids of the call before.
  std::int64_t choose(const at::Tensor& logits, std::span<const std::int64_t> seen);

 private:
  at::Tensor penalised(const at::Tensor& scores, std::span<const std::int64_t> seen);

  Sampling settings_;
  Sampler sampler_;
  at::Tensor was_seen_;    // bool [vocabulary], on the logits' device
  std::size_t noted_ = 0;  // so many of the seen ids are in it
};

// A choice by the logits' device, as a tensor there: int64 [], an id, or kNotANumber or kNothingLeft. scores: fp64 [vocabulary], penalised.
// uniform: the draw, in [0, 1).
inline constexpr std::int64_t kNotANumber = -1;
inline constexpr std::int64_t kNothingLeft = -2;
at::Tensor choice_on_device(const at::Tensor& scores, const Sampling& settings, double uniform);

}  // namespace winnow
