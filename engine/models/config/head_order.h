// The order in which a head's elements are held where they are stored in another than the kernels read.
//
// Kernels pair each element of a head's first half with one of the second. A model that rotates the first `rotated` elements pairs those
// among themselves, and GLM pairs neighbours. Queries and keys are then held in another order than they are stored: their products are the
// same. No torch.
#pragma once

#include <cstdint>
#include <vector>

namespace winnow {

// Which stored elements of a head rotate together.
enum class RotaryPairs : int {
  kHalves = 1,      // one of the first half of what is rotated and one of the second
  kNeighbours = 2,  // 0 and 1, 2 and 3, ... (GLM)
};

// The stored element of each; 0, 1, 2, ... where all halves are rotated. rotated: even; 0: all.
std::vector<std::int64_t> head_order(std::int64_t head_dim, std::int64_t rotated, RotaryPairs pairs = RotaryPairs::kHalves);

}  // namespace winnow
