#include "engine/models/vision/tile_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/error.h"

namespace winnow {

std::int64_t tokens_of_tiles(std::int64_t tiles, const TileBounds& bounds, std::int64_t tile_tokens, std::int64_t picture_marks) {
  return (tiles + (tiles > 1 && bounds.thumbnail ? 1 : 0)) * tile_tokens + picture_marks;
}

TileBounds of_at_most(std::int64_t tokens, TileBounds bounds, std::int64_t tile_tokens, std::int64_t picture_marks) {
  if (tokens == 0) return bounds;
  std::int64_t most = 1;
  while (most < kMostTilesOfAnImage && tokens_of_tiles(most + 1, bounds, tile_tokens, picture_marks) <= tokens) ++most;
  bounds.most = most;
  bounds.least = std::min(bounds.least, most);
  return bounds;
}

TileCount closest_tiles(PixelSize source, const TileBounds& bounds) {
  require(source.height_px > 0 && source.width_px > 0 && bounds.least > 0 && bounds.most <= kMostTilesOfAnImage, "tiles need bounds");
  const double shape = static_cast<double>(source.width_px) / static_cast<double>(source.height_px);
  const auto area = static_cast<double>(source.width_px * source.height_px);
  TileCount best;
  double smallest = std::numeric_limits<double>::infinity();
  for (std::int64_t tiles = bounds.least; tiles <= bounds.most; ++tiles) {
    for (std::int64_t columns = 1; columns <= tiles; ++columns) {
      if (tiles % columns != 0) continue;
      const TileCount grid{tiles / columns, columns};
      const double distance = std::abs(shape - static_cast<double>(grid.columns) / static_cast<double>(grid.rows));
      const bool fills = area > 0.5 * static_cast<double>(bounds.side_px * bounds.side_px * tiles);
      if (distance < smallest || (distance == smallest && fills)) best = grid;
      smallest = std::min(smallest, distance);
    }
  }
  return best;
}

}  // namespace winnow
