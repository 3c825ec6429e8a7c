#include "engine/sampling/sampler.h"

#include <cmath>
#include <iterator>

#include "engine/base/error.h"

namespace winnow {

double counter_uniform(std::uint64_t seed, std::uint64_t n) {
  std::uint64_t z = seed + (n + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1.0p-53;
}

std::int64_t chosen_id(std::int64_t choice) {
  const auto refuse = [](const char* reason) { throw Exception(ErrorCode::kNumericFailure, "logits", reason); };
  if (choice == kernels::kNotANumber) refuse("the model computed a value that is not a number");
  if (choice == kernels::kNothingLeft) refuse("the model excludes every token");
  return choice;
}

Sampler::Sampler(const Sampling& settings, std::uint64_t draws) : settings_(settings), draws_(draws) {
  const auto check = [](bool good, const char* name, const char* reason) {
    if (!good) throw Exception(ErrorCode::kInvalidArgument, name, reason);
  };
  // Written so that NaN fails.
  check(settings.temperature >= 0 && std::isfinite(settings.temperature), "temperature", "must be 0 or a positive number");
  check(settings.top_k >= 0, "top_k", "must not be negative");
  check(settings.top_p >= 0 && settings.top_p <= 1, "top_p", "must be between 0 and 1");
  check(settings.min_p >= 0 && settings.min_p <= 1, "min_p", "must be between 0 and 1");
  check(settings.repetition_penalty > 0 && std::isfinite(settings.repetition_penalty), "repetition_penalty", "must be a positive number");
}

kernels::SampleTokenArgs Sampler::next_choice() {
  kernels::SampleTokenArgs args;
  args.temperature = settings_.temperature;
  args.top_k = settings_.top_k;
  args.top_p = settings_.top_p;
  args.min_p = settings_.min_p;
  args.repetition_penalty = settings_.repetition_penalty;
  args.uniform = counter_uniform(settings_.seed, draws_++);
  return args;
}

std::int64_t Sampler::sample(std::span<const float> logits, std::span<const std::int64_t> seen) {
  require(!logits.empty(), "logits of at least one token");
  std::int64_t choice = 0;
  kernels::SampleTokenArgs args = next_choice();
  args.logits = logits.data();
  args.vocabulary = std::ssize(logits);
  if (settings_.repetition_penalty != 1.0) {
    seen_.assign(logits.size(), 0);
    args.seen = seen_.data();
    args.fresh = seen.data();
    args.fresh_count = std::ssize(seen);
  }
  workspace_.resize(static_cast<std::size_t>(kernels::choice_workspace(args.vocabulary)));
  args.workspace = workspace_.data();
  args.choice = &choice;
  require(kernels::sample_token_reference(args) == kernels::LaunchStatus::kOk, "the choice of a token refused its arguments");
  return chosen_id(choice);
}

}  // namespace winnow
