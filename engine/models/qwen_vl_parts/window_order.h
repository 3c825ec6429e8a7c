// In which order the cells of a picture go through Qwen2.5-VL's tower, so that those of a window lie together.
//
// Used by qwen_vl_tower.h. transformers' get_window_index goes window by window, row by row; here windows of one size lie together (the
// whole ones, those cut at the right, at the bottom, in the corner), so that a layer's attention takes four products and not one for each
// window. Attention does not mind the order, and the tower puts the cells back. No torch. Threads: plain functions.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/models/qwen_vl_parts/patch_grid.h"

namespace winnow {

struct WindowGroup {
  std::int64_t first = 0;    // cell of the order
  std::int64_t windows = 0;  // one after the other
  std::int64_t cells = 0;    // of each

  friend bool operator==(const WindowGroup&, const WindowGroup&) = default;
};

struct WindowOrder {
  std::vector<std::int64_t> cells;  // of the picture, numbered row by row
  std::vector<WindowGroup> groups;
};

// side: of a window, in cells.
WindowOrder window_order(const CellGrid& grid, std::int64_t side);

}  // namespace winnow
