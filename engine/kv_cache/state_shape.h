// The size of what a layer without slots keeps of the tokens so far. Plain numbers, no torch. Part of KvShape.
#pragma once

#include <cstdint>

namespace winnow {

// All zero: the model has no such layers.
struct StateShape {
  std::int64_t heads = 0;    // each with an fp32 matrix [rows, columns]; 0: only the last tokens are kept
  std::int64_t rows = 0;     // elements of a key
  std::int64_t columns = 0;  // elements of a value
  std::int64_t recent = 0;   // last tokens whose `channels` a convolution reads, in the model's dtype
  std::int64_t channels = 0;

  friend bool operator==(const StateShape&, const StateShape&) = default;
};

}  // namespace winnow
