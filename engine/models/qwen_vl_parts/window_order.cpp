#include "engine/models/qwen_vl_parts/window_order.h"

#include <algorithm>

#include "engine/base/error.h"

namespace winnow {

WindowOrder window_order(const CellGrid& grid, std::int64_t side) {
  require(side > 0, "window_order: a window has cells");
  WindowOrder order;
  // Along an axis: the stretch of whole windows, and what is left of it.
  struct Stretch {
    std::int64_t first, end, side;
  };
  const auto stretches = [&](std::int64_t length) {
    const std::int64_t whole = length / side * side;
    return std::vector<Stretch>{{0, whole, side}, {whole, length, length - whole}};
  };
  for (const Stretch& down : stretches(grid.rows)) {
    for (const Stretch& across : stretches(grid.columns)) {
      WindowGroup group{std::ssize(order.cells), 0, down.side * across.side};
      if (group.cells == 0) continue;
      for (std::int64_t top = down.first; top < down.end; top += down.side) {
        for (std::int64_t left = across.first; left < across.end; left += across.side) {
          ++group.windows;
          for (std::int64_t row = top; row < top + down.side; ++row) {
            for (std::int64_t column = left; column < left + across.side; ++column) order.cells.push_back(row * grid.columns + column);
          }
        }
      }
      if (group.windows > 0) order.groups.push_back(group);
    }
  }
  return order;
}

}  // namespace winnow
