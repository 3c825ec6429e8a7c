// Over how many tiles a processor stretches an image, by its shape: whole-number grids, without pixels.
//
// Used by internvl/ and lfm2/. Follows transformers' get_optimal_tiled_canvas (GotOcr2ImageProcessor) and the find_closest_aspect_ratio of
// InternVL's original code and of Lfm2VlImageProcessor. They differ in nothing but the order of grids that have as many tiles and lie as
// close: that of get_optimal_tiled_canvas is kept here, the others' is that of a Python set. No picture meets two such grids where a tile
// count's range begins at 1 or 2 and goes beyond 3. Quotients in double precision, because equal distances decide. No torch. Threads: plain
// functions.
#pragma once

#include <cstdint>

#include "engine/vision/pixel_size.h"

namespace winnow {

inline constexpr std::int64_t kMostTilesOfAnImage = 128;

struct TileBounds {
  std::int64_t side_px = 384;
  std::int64_t least = 1;  // at most `most`
  std::int64_t most = 12;  // up to kMostTilesOfAnImage
  bool thumbnail = true;   // the whole picture after several tiles
};

struct TileCount {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t tiles() const { return rows * columns; }
};

// The bounds with fewer or more tiles: as many as make at most so many tokens, where a tile makes tile_tokens and a picture has
// picture_marks beside them; at least one tile. tokens 0: as they are.
TileBounds of_at_most(std::int64_t tokens, TileBounds bounds, std::int64_t tile_tokens, std::int64_t picture_marks);
// Tokens of an image of so many tiles.
std::int64_t tokens_of_tiles(std::int64_t tiles, const TileBounds& bounds, std::int64_t tile_tokens, std::int64_t picture_marks);

// The grid of least to most tiles whose shape is closest to the picture's; of two as close the larger one if the picture has more than half
// of its area. One tile where there is none.
TileCount closest_tiles(PixelSize source, const TileBounds& bounds);

}  // namespace winnow
