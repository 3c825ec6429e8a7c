#include "engine/models/minicpmv/slice_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/error.h"

namespace winnow {
namespace {

struct Grid {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

// Python's round(): halves to even.
std::int64_t rounded_to(double length, std::int64_t divisor) {
  const auto parts = static_cast<std::int64_t>(std::nearbyint(length / static_cast<double>(divisor)));
  return std::max(parts * divisor, divisor);
}

// fill: a smaller picture is made larger, too.
CellGrid best_cells(PixelSize source, const SliceRules& rules, bool fill) {
  std::int64_t height = source.height_px;
  std::int64_t width = source.width_px;
  if (fill || height * width > rules.scale_px * rules.scale_px) {
    const double shape = static_cast<double>(width) / static_cast<double>(height);
    height = static_cast<std::int64_t>(static_cast<double>(rules.scale_px) / std::sqrt(shape));
    width = static_cast<std::int64_t>(static_cast<double>(height) * shape);
  }
  const std::int64_t side = rules.token_px();
  return {rounded_to(static_cast<double>(height), side) / side, rounded_to(static_cast<double>(width), side) / side};
}

// Rows 0: nothing is cut.
Grid slice_grid(PixelSize source, const SliceRules& rules) {
  const auto height = static_cast<double>(source.height_px);
  const auto width = static_cast<double>(source.width_px);
  const double shape = std::log(width / height);
  const auto area = static_cast<double>(rules.scale_px * rules.scale_px);
  const auto wanted = static_cast<std::int64_t>(std::ceil(width * height / area));
  const std::int64_t most = std::min(wanted, rules.most_slices);
  if (most <= 1) return {};
  Grid best{1, 1};
  double smallest = std::numeric_limits<double>::infinity();
  for (std::int64_t slices = most - 1; slices <= most + 1; ++slices) {
    if (slices == 1 || slices > rules.most_slices) continue;
    for (std::int64_t rows = 1; rows <= slices; ++rows) {
      if (slices % rows != 0) continue;
      const std::int64_t columns = slices / rows;
      const double error = std::abs(shape - std::log(static_cast<double>(columns) / static_cast<double>(rows)));
      if (error < smallest || (error == smallest && rows > best.rows)) best = {rows, columns};
      smallest = std::min(smallest, error);
    }
  }
  return best;
}

}  // namespace

SlicedPicture sliced_picture(PixelSize source, const SliceRules& rules) {
  if (source.height_px < 1 || source.width_px < 1) throw Exception(ErrorCode::kInvalidArgument, "image", "it has no area");
  const Grid grid = slice_grid(source, rules);
  SlicedPicture cut;
  cut.rows = grid.rows;
  cut.columns = grid.columns;
  cut.whole = best_cells(source, rules, grid.rows == 0);
  if (grid.rows == 0) return cut;
  const auto part = [](std::int64_t length, std::int64_t parts) { return rounded_to(static_cast<double>(length), parts) / parts; };
  cut.slice = best_cells({part(source.height_px, grid.rows), part(source.width_px, grid.columns)}, rules, true);
  return cut;
}

}  // namespace winnow
