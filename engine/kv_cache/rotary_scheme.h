// How cached keys are rotated: rotary position embedding, rotate-half layout.
//
// Made by a model's decoder, carried by KvShape and LayerView; methods that remove or add rotation use it (layers/rotary.h). A position has
// one axis, or time, height and width (M-RoPE): each pair of a head is rotated by the axis that frequency_axis names. Plain data, no torch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace winnow {

struct RotaryScheme {
  double theta = 0.0;                          // base; 0: keys carry no rotation that could be removed
  std::vector<std::int64_t> frequency_axis{};  // per frequency (half of rotated) its axis; empty: one axis
  std::vector<double> divisors{};              // per frequency its divisor (scaled positions); empty: 1
  double magnitude = 1.0;                      // factor on queries and keys as they are rotated (YaRN, LongRoPE)
  std::int64_t rotated = 0;                    // elements of a head that positions rotate, in its first pairs; 0: all

  std::int64_t axes() const { return frequency_axis.empty() ? 1 : *std::max_element(frequency_axis.begin(), frequency_axis.end()) + 1; }
  // Without the factor, for keys that already have it.
  RotaryScheme turn_alone() const { return {theta, frequency_axis, divisors, 1.0, rotated}; }
  friend bool operator==(const RotaryScheme&, const RotaryScheme&) = default;
};

}  // namespace winnow
