// The order in which a head's elements are held where positions rotate only the first of them.
//
// Kernels pair each element of a head's first half with one of the second. A model that rotates the first `rotated` elements pairs those
// among themselves, so queries and keys are held in another order than they are stored: their products are the same. No torch.
#pragma once

#include <cstdint>
#include <vector>

namespace winnow {

// The stored element of each; 0, 1, 2, ... where all are rotated. rotated: even; 0: all.
std::vector<std::int64_t> head_order(std::int64_t head_dim, std::int64_t rotated);

}  // namespace winnow
