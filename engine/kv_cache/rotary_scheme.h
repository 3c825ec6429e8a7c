// By what cached keys are rotated: rotary position embedding, rotate-half layout.
//
// Made by a model's decoder, carried by KvShape and LayerView; methods that alternate away or add some go by it (layers/rotary.h). A
// position has one axis, or several where media have time, height and width (M-RoPE): each pair of a head is rotated by the axis that
// frequency_axis names. Plain data, no torch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace winnow {

struct RotaryScheme {
  double theta = 0.0;                          // base; 0: the keys carry no rotation that could be taken away
  std::vector<std::int64_t> frequency_axis{};  // per frequency (head_dim / 2) its axis; empty: one axis
  std::vector<double> divisors{};              // per frequency, what it is divided by (scaled positions); empty: by one
  double magnitude = 1.0;                      // what a model lengthens queries and keys by as it rotates them (YaRN, LongRoPE)

  std::int64_t axes() const { return frequency_axis.empty() ? 1 : *std::max_element(frequency_axis.begin(), frequency_axis.end()) + 1; }
  // For what has its length already.
  RotaryScheme turn_alone() const { return {theta, frequency_axis, divisors, 1.0}; }
  friend bool operator==(const RotaryScheme&, const RotaryScheme&) = default;
};

}  // namespace winnow
