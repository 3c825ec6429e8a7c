#include "engine/models/vision/qwen_vision_config.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace winnow::qwen_vl_parts_test {
namespace {

using Cells = std::vector<std::int64_t>;

TEST(WindowOrder, WholeWindowsComeFirstThenThoseThatAreCut) {
  // 3 rows of 5 cells in windows of 2 x 2:
  //    0  1 |  2  3 |  4
  //    5  6 |  7  8 |  9
  //   10 11 | 12 13 | 14
  const WindowOrder order = window_order({3, 5}, 2);
  EXPECT_EQ(order.cells, (Cells{0, 1, 5, 6, 2, 3, 7, 8, 4, 9, 10, 11, 12, 13, 14}));
  EXPECT_EQ(order.groups, (std::vector<WindowGroup>{{0, 2, 4}, {8, 1, 2}, {10, 2, 2}, {14, 1, 1}}));
}

TEST(WindowOrder, WindowsThatFitLeaveNoRest) {
  const WindowOrder order = window_order({2, 4}, 2);
  EXPECT_EQ(order.cells, (Cells{0, 1, 4, 5, 2, 3, 6, 7}));
  EXPECT_EQ(order.groups, (std::vector<WindowGroup>{{0, 2, 4}}));
}

TEST(WindowOrder, AWindowLargerThanThePictureIsThePicture) {
  const WindowOrder order = window_order({2, 3}, 8);
  EXPECT_EQ(order.cells, (Cells{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(order.groups, (std::vector<WindowGroup>{{0, 1, 6}}));
}

TEST(WindowOrder, HasEveryCellOnce) {
  for (std::int64_t rows = 1; rows < 9; ++rows) {
    for (std::int64_t columns = 1; columns < 9; ++columns) {
      for (std::int64_t side = 1; side < 6; ++side) {
        WindowOrder order = window_order({rows, columns}, side);
        std::int64_t grouped = 0;
        for (const WindowGroup& group : order.groups) {
          EXPECT_EQ(group.first, grouped);
          grouped += group.windows * group.cells;
        }
        EXPECT_EQ(grouped, rows * columns);
        std::ranges::sort(order.cells);
        for (std::int64_t cell = 0; cell < rows * columns; ++cell) EXPECT_EQ(order.cells[static_cast<std::size_t>(cell)], cell);
      }
    }
  }
}

}  // namespace
}  // namespace winnow::qwen_vl_parts_test
