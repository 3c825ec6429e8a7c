#include "engine/models/vision/equal_pixels.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/base/error.h"

namespace winnow {
namespace {

// The values of a cell, patch by patch, in each of them colour by colour.
struct CellOrder {
  std::int64_t values = 0;
  std::int64_t colour_values = 0;
  std::array<float, 3> tolerance{};  // of normalised values, per colour

  bool equal(const float* a, const float* b) const {
    if (a == b) return true;
    for (std::int64_t first = 0, colour = 0; first < values; first += colour_values, ++colour) {
      const float most = tolerance[static_cast<std::size_t>(colour % 3)];
      for (std::int64_t i = first; i < first + colour_values; ++i) {
        if (!(std::abs(a[i] - b[i]) <= most)) return false;
      }
    }
    return true;
  }
};

}  // namespace

std::vector<bool> EqualPixels::kept(const PixelValues& pixels, const std::vector<bool>& whole) {
  require(pixels.cells.has_value(), "EqualPixels: pixels without cells");
  const PixelCells& grid = *pixels.cells;
  const at::Tensor values = pixels.pixels.to(at::kCPU).contiguous();
  const std::int64_t cells = grid.rows * grid.columns;
  CellOrder order{grid.cell_values, grid.colour_values};
  for (std::size_t colour = 0; colour < 3; ++colour) order.tolerance[colour] = static_cast<float>(threshold_ / grid.deviation[colour]);
  const std::int64_t pictures = values.numel() / (cells * order.values);
  const float* const first = values.const_data_ptr<float>();
  std::vector<bool> stays;
  std::vector<const float*> last, now(static_cast<std::size_t>(cells));
  for (std::int64_t cell = 0; !before_.empty() && cell < cells; ++cell) last.push_back(before_.data() + cell * order.values);
  for (std::int64_t picture = 0; picture < pictures; ++picture) {
    const bool all = !whole.empty() && whole[static_cast<std::size_t>(picture)];
    for (std::int64_t cell = 0; cell < cells; ++cell) {
      const float* const own = first + (picture * cells + cell) * order.values;
      const std::int64_t column = cell % grid.columns;
      const auto neighbour = [&](std::int64_t back) { return now[static_cast<std::size_t>(cell - back)]; };
      const float* left = column > 0 ? neighbour(1) : nullptr;
      const float* above = cell >= grid.columns ? neighbour(grid.columns) : nullptr;
      const float* predicted = left != nullptr ? left : above;
      if (left != nullptr && above != nullptr) {
        const float* const corner = neighbour(grid.columns + 1);
        if (order.equal(corner, left) && !order.equal(corner, above)) predicted = above;
      }
      const float* stands = own;
      if (!last.empty() && order.equal(own, last[static_cast<std::size_t>(cell)])) {
        stands = last[static_cast<std::size_t>(cell)];
      } else if (predicted != nullptr && order.equal(own, predicted)) {
        stands = predicted;
      }
      stays.push_back(all || stands == own);
      now[static_cast<std::size_t>(cell)] = all ? own : stands;
    }
    last = now;
  }
  std::vector<float> standing;
  for (const float* cell : last) standing.insert(standing.end(), cell, cell + order.values);
  before_ = std::move(standing);
  return stays;
}

}  // namespace winnow
