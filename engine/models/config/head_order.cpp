#include "engine/models/config/head_order.h"

namespace winnow {

std::vector<std::int64_t> head_order(std::int64_t head_dim, std::int64_t rotated, RotaryPairs pairs) {
  const std::int64_t turned = rotated == 0 ? head_dim : rotated;
  const bool neighbours = pairs == RotaryPairs::kNeighbours;
  const std::int64_t still = (head_dim - turned) / 2;  // elements of each half that are not rotated
  std::vector<std::int64_t> held;
  for (const std::int64_t half : {0, 1}) {
    for (std::int64_t pair = 0; pair < turned / 2; ++pair) held.push_back(neighbours ? 2 * pair + half : half * turned / 2 + pair);
    for (std::int64_t element = 0; element < still; ++element) held.push_back(turned + half * still + element);
  }
  return held;
}

}  // namespace winnow
