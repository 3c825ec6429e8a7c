// Strides of rows that consist of groups, such as the heads of a token.
#pragma once

#include <cstdint>

namespace winnow::kernels {

// Group g of row r begins at element r * row + g * group; the elements of a group are contiguous.
struct GroupStrides {
  std::int64_t row = 0;
  std::int64_t group = 0;

  std::int64_t at(std::int64_t r, std::int64_t g) const { return r * row + g * group; }
  bool is_negative() const { return row < 0 || group < 0; }
};

}  // namespace winnow::kernels
