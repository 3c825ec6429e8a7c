#include "engine/models/smolvlm/tile_grid.h"

#include <algorithm>

#include "engine/base/error.h"

namespace winnow {
namespace {

constexpr std::int64_t kMostTiles = 1024;

std::int64_t tiles_over(std::int64_t length, std::int64_t side) { return (length + side - 1) / side; }

// Python's int(length / ratio) and int(length * ratio).
std::int64_t divided(std::int64_t length, double ratio) { return static_cast<std::int64_t>(static_cast<double>(length) / ratio); }
std::int64_t multiplied(std::int64_t length, double ratio) { return static_cast<std::int64_t>(static_cast<double>(length) * ratio); }

double ratio_of(PixelSize size) { return static_cast<double>(size.width_px) / static_cast<double>(size.height_px); }

PixelSize below_upper_bound(PixelSize size) {
  const double ratio = ratio_of(size);
  if (size.width_px >= size.height_px && size.width_px > kMostPictureSidePx) {
    size = {divided(kMostPictureSidePx, ratio), kMostPictureSidePx};
  } else if (size.height_px > size.width_px && size.height_px > kMostPictureSidePx) {
    size = {kMostPictureSidePx, multiplied(kMostPictureSidePx, ratio)};
  }
  return {std::max<std::int64_t>(size.height_px, 1), std::max<std::int64_t>(size.width_px, 1)};
}

}  // namespace

PixelSize size_of_longest_edge(PixelSize source, std::int64_t longest_px) {
  const double ratio = ratio_of(source);
  PixelSize size;
  if (source.width_px >= source.height_px) {
    size = {divided(longest_px, ratio), longest_px};
    size.height_px += size.height_px % 2;
  } else {
    size = {longest_px, multiplied(longest_px, ratio)};
    size.width_px += size.width_px % 2;
  }
  return below_upper_bound({std::max<std::int64_t>(size.height_px, 1), std::max<std::int64_t>(size.width_px, 1)});
}

TileGrid tile_grid(PixelSize source, const TileRules& rules) {
  require(source.height_px > 0 && source.width_px > 0 && rules.longest_edge_px > 0 && rules.side_px > 0, "tiles need sizes");
  const std::int64_t side = rules.side_px;
  TileGrid grid;
  grid.first = size_of_longest_edge(source, rules.longest_edge_px);
  grid.whole = {side, side};
  if (!rules.split) return grid;
  const double ratio = ratio_of(grid.first);
  if (grid.first.width_px >= grid.first.height_px) {
    grid.whole.width_px = tiles_over(grid.first.width_px, side) * side;
    grid.whole.height_px = tiles_over(divided(grid.whole.width_px, ratio), side) * side;
  } else {
    grid.whole.height_px = tiles_over(grid.first.height_px, side) * side;
    grid.whole.width_px = tiles_over(multiplied(grid.whole.height_px, ratio), side) * side;
  }
  // A ratio that leaves nothing of the shorter edge would leave transformers without a picture.
  grid.whole = {std::max(grid.whole.height_px, side), std::max(grid.whole.width_px, side)};
  if (grid.whole.height_px <= side && grid.whole.width_px <= side) return grid;
  grid.rows = grid.whole.height_px / side;
  grid.columns = grid.whole.width_px / side;
  if (grid.rows * grid.columns > kMostTiles) {
    throw Exception(ErrorCode::kLimitExceeded, "max_image_size", "more than 1,024 tiles for one image");
  }
  return grid;
}

}  // namespace winnow
