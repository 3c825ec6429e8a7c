// The arithmetic of sampling a token: scores, their order and their weights. One source for host and GPU, which get the same bits: IEEE 754
// defines the rounding of every operation, and no product is fused with a sum.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/api/sample_token.h"

#ifdef __CUDACC__
#define WINNOW_ON_BOTH __host__ __device__
#else
#define WINNOW_ON_BOTH
#endif

namespace winnow::kernels {

// Keys order ids: the better one has the greater key, of equal scores the smaller id. The score is above kChoiceIdBits, in an order of
// unsigned numbers.
inline constexpr int kChoiceIdBits = 20;
inline constexpr int kChoiceKeyBits = 32 + kChoiceIdBits;
inline constexpr std::uint64_t kChoiceIdMask = (std::uint64_t{1} << kChoiceIdBits) - 1;
static_assert(std::uint64_t{kMaxChoices} == kChoiceIdMask + 1);
inline constexpr std::uint64_t kBadKey = ~std::uint64_t{0};                                             // of NaN: above all others
inline constexpr std::uint64_t kNeverKey = std::uint64_t{0x007FFFFF} << kChoiceIdBits | kChoiceIdMask;  // none of -infinity is above

inline constexpr float kMostScore = std::numeric_limits<float>::max();

WINNOW_ON_BOTH inline float choice_score(float logit, bool seen, double penalty) {
  if (!seen || logit < -kMostScore) return logit;
  const double score = logit < 0.0F ? logit * penalty : logit / penalty;
  return score > kMostScore ? kMostScore : score < -kMostScore ? -kMostScore : static_cast<float>(score);
}

WINNOW_ON_BOTH inline std::uint64_t choice_key(const SampleTokenArgs& args, std::int64_t id) {
  const float logit = args.logits[id];
  if (!(logit <= kMostScore)) return kBadKey;
  const float score = choice_score(logit, args.seen != nullptr && args.seen[id] != 0, args.repetition_penalty);
  const auto bits = __builtin_bit_cast(std::uint32_t, score == 0.0F ? 0.0F : score);  // both zeros are equal
  const std::uint32_t ordered = bits ^ ((0U - (bits >> 31)) | 0x80000000U);
  return std::uint64_t{ordered} << kChoiceIdBits | (kChoiceIdMask - static_cast<std::uint64_t>(id));
}

WINNOW_ON_BOTH inline std::int64_t choice_id(std::uint64_t key) { return static_cast<std::int64_t>(kChoiceIdMask - (key & kChoiceIdMask)); }

// The result for the best key if no id has to be drawn: kNotANumber, kNothingLeft or the best id.
WINNOW_ON_BOTH inline std::int64_t choice_of_best(std::uint64_t best) {
  return best == kBadKey ? kNotANumber : best <= kNeverKey ? kNothingLeft : choice_id(best);
}

WINNOW_ON_BOTH inline float score_of_key(std::uint64_t key) {
  const auto ordered = static_cast<std::uint32_t>(key >> kChoiceIdBits);
  return __builtin_bit_cast(float, ordered ^ (((ordered >> 31) - 1U) | 0x80000000U));
}

// A key's score relative to the best's: (score - best) / temperature. Never NaN, and no greater for a smaller key.
WINNOW_ON_BOTH inline double choice_value(std::uint64_t key, std::uint64_t best, double temperature) {
  return (static_cast<double>(score_of_key(key)) - static_cast<double>(score_of_key(best))) / temperature;
}

// The least value that min-p keeps.
inline double least_choice_value(const SampleTokenArgs& args) { return std::log(args.min_p); }

WINNOW_ON_BOTH inline double int8_gemv(double a, double b) {
#ifdef __CUDA_ARCH__
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}

WINNOW_ON_BOTH inline double rounded_sum(double a, double b) {
#ifdef __CUDA_ARCH__
  return __dadd_rn(a, b);
#else
  return a + b;
#endif
}

// exp(value) in units of 2^-40, rounded; value <= 0. What all ids weigh together is at most 2^60.
WINNOW_ON_BOTH inline std::uint64_t choice_weight(double value) {
  // A number below 2^51 that is added to one of these is rounded to a whole one, which the sum's lowest bits are.
  constexpr double kToWhole = 0x1.0p52;
  constexpr double kToSignedWhole = 0x1.8p52;
  const double within = value > -64.0 ? value : -64.0;  // weighs nothing from -28.5 on
  // exp(value) = 2^power * exp(rest), |rest| <= ln(2) / 2: its series has an error below 2^-46.
  const double power_bits = rounded_sum(int8_gemv(within, 1.4426950408889634), kToSignedWhole);
  const double power = rounded_sum(power_bits, -kToSignedWhole);
  const double rest = rounded_sum(rounded_sum(within, -int8_gemv(power, 0x1.62e42fee00000p-1)),  // ln(2) in two parts,
                                  -int8_gemv(power, 0x1.a39ef35793c76p-33));                     // the first times power is exact
  const auto more = [rest](double series, double factor) { return rounded_sum(int8_gemv(series, rest), factor); };
  double series = more(more(more(1.0 / 39916800, 1.0 / 3628800), 1.0 / 362880), 1.0 / 40320);
  series = more(more(more(more(series, 1.0 / 5040), 1.0 / 720), 1.0 / 120), 1.0 / 24);
  series = more(more(more(more(series, 1.0 / 6), 0.5), 1.0), 1.0);
  constexpr std::uint64_t kUnits = std::uint64_t{1023 + 40} << 52;  // the bits of 2^40
  const double scale = __builtin_bit_cast(double, kUnits + (__builtin_bit_cast(std::uint64_t, power_bits) << 52));
  const double weight = rounded_sum(int8_gemv(series, scale), kToWhole);
  return __builtin_bit_cast(std::uint64_t, weight) & ((std::uint64_t{1} << 52) - 1);
}

}  // namespace winnow::kernels
