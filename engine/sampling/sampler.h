// Samples the next token from logits: greedily, or randomly after temperature, top-k, top-p and min-p.
//
// Used by engine/generation's decode loop. Order and meaning are those of Hugging Face generate(): repetition penalty on the logits of
// every id of prompt and answer (also when greedy), then temperature, top-k, top-p, min-p. At least one candidate always remains. Ties:
// greedy takes the smaller id; top-k keeps all ids that tie with the k-th, top-p takes the smaller id first. The computation is
// kernels/api/sample_token.h; its meaning is defined here.
//
// Random numbers: the n-th draw of a turn is splitmix64's output for state seed + (n + 1) * 0x9E3779B97F4A7C15, its upper 53 bits as a
// fraction u in [0, 1); the token is the first candidate in ascending id whose cumulative probability exceeds u. Probabilities are integer
// multiples of 2^-40 of the best one's. Same seed, same logits, same answer, on every machine.
//
// Settings: temperature >= 0 (0: greedy), top_k >= 0 (0: off), top_p in [0, 1] (0 keeps the best), min_p in [0, 1], repetition_penalty > 0;
// max_new_tokens and stop_strings are the decode loop's.
//
// logits: fp32 [vocabulary]; -inf means never. Errors: Exception; kInvalidArgument (settings outside their range), kNumericFailure (NaN,
// +inf, or nothing but -inf). Threads: confined to one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/sampling/sampling.h"
#include "kernels/api/sample_token.h"

namespace winnow {

class Sampler {
 public:
  // draws: already made for this answer.
  explicit Sampler(const Sampling& settings, std::uint64_t draws = 0);

  // seen: ids of prompt and answer so far, in any order; ids outside the vocabulary are ignored. Counts as one draw even when greedy.
  std::int64_t sample(std::span<const float> logits, std::span<const std::int64_t> seen);

  // The settings and the next draw, which counts as made. Also for sampling on the logits' device (engine/generation's TokenChoice).
  kernels::SampleTokenArgs next_choice();

  std::uint64_t draws() const noexcept { return draws_; }

 private:
  Sampling settings_;
  std::uint64_t draws_ = 0;
  std::vector<std::uint8_t> seen_;        // by id
  std::vector<std::uint64_t> workspace_;  // kept between calls for its memory
};

// The id that a kernel sampled; kNumericFailure if it reports that the logits allow no token.
std::int64_t chosen_id(std::int64_t choice);

// Random number n of a seed, in [0, 1).
double counter_uniform(std::uint64_t seed, std::uint64_t n);

}  // namespace winnow
