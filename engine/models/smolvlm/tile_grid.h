// How SmolVLM's processor cuts an image: sizes and tiles in whole numbers, without pixels.
//
// Used by image_processor.h (the same sizes in pixels) and media_tokens.h (a marker for every tile). Follows transformers'
// SmolVLMImageProcessor function by function: _resize_output_size_rescale_to_max_len, _resize_output_size_scale_below_upper_bound,
// resize_for_vision_encoder, split_image; quotients in double precision, because their rounding decides a tile more or less.
// Errors: Exception kLimitExceeded for more than 1,024 tiles. No torch. Threads: plain functions.
#pragma once

#include <cstdint>

#include "engine/vision/pixel_size.h"

namespace winnow {

inline constexpr std::int64_t kMostPictureSidePx = 4096;  // MAX_IMAGE_SIZE

struct TileRules {
  std::int64_t longest_edge_px = std::int64_t{4} * 364;  // of the whole picture before it is cut: `size`
  std::int64_t side_px = 364;                            // of a tile: `max_image_size`
  bool split = true;                                     // `do_image_splitting`; else one square
};

// The way of a picture: resized to `first`, then to `whole`, which is cut into rows x columns squares.
struct TileGrid {
  PixelSize first;
  PixelSize whole;
  std::int64_t rows = 0;  // 0: one square, nothing is cut
  std::int64_t columns = 0;
};

// The longer edge becomes longest_px (at most 4,096), the shorter one even and rounded down before that.
PixelSize size_of_longest_edge(PixelSize source, std::int64_t longest_px);

TileGrid tile_grid(PixelSize source, const TileRules& rules);

}  // namespace winnow
