#include "engine/models/head_order.h"

#include <numeric>

namespace winnow {

std::vector<std::int64_t> head_order(std::int64_t head_dim, std::int64_t rotated) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(head_dim));
  std::iota(order.begin(), order.end(), 0);
  if (rotated == 0 || rotated == head_dim) return order;
  const std::int64_t half = rotated / 2;
  const std::int64_t still = (head_dim - rotated) / 2;  // elements of each half that are not rotated
  std::vector<std::int64_t> held;
  for (const std::int64_t first : {std::int64_t{0}, half}) {
    held.insert(held.end(), order.begin() + first, order.begin() + first + half);
    const auto beside = order.begin() + rotated + (first == 0 ? 0 : still);
    held.insert(held.end(), beside, beside + still);
  }
  return held;
}

}  // namespace winnow
