// Pixels for a vision tower: pictures padded, resized, cropped or tiled, and scaled, as transformers' LLaVA, InternVL and Gemma 3
// processors do it.
//
// Used by the LLaVA families, internvl/ and gemma3/. Input: upright RGB8, 1 to 16,384 px a side, at most 64 Mpx and 200:1; output fp32,
// side = rules.size, which is a square. Errors: Exception kInvalidArgument for a picture that is not what it says, kLimitExceeded for its
// size or more than 1,024 at a time, kUnsupportedModel for a resolution that no whole tiles make. Threads: plain functions.
#pragma once

#include <span>

#include "engine/media/frame_source.h"
#include "engine/models/vision/llava_vision_config.h"
#include "engine/vision/pixel_values.h"

namespace winnow {

// [pictures, 3, side, side]; the pictures may differ in size, source_* are the first one's.
PixelValues whole_pictures(std::span<const RgbImage> pictures, const PictureRules& rules);

// [1 + tiles, 3, side, side]: the picture squeezed into one square, then the tiles of the best of the resolutions, in which it keeps its
// proportions in the middle of black (of before scaling).
PixelValues tiled_picture(const RgbImage& picture, const PictureRules& rules, std::span<const PixelSize> pinpoints);

// The picture stretched over rows x columns squares, row by row; then, if wanted, squeezed into one.
struct TileGridRules {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  bool thumbnail = true;
};
// [tiles (+ 1), 3, side, side]
PixelValues stretched_tiles(const RgbImage& picture, const PictureRules& rules, const TileGridRules& grid);

}  // namespace winnow
