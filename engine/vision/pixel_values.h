// Pixels as the vision tower takes them, and whether an image is cut into tiles.
//
// Made by image_processor.h, consumed by engine/models. Threads: engine thread.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace winnow {

struct PixelValues {
  at::Tensor pixels;  // image: [tiles, 3, side, side] (tile 0 = base, then the grid row by row); video: [frames, 3, side, side]; fp32
  std::int64_t source_height_px = 0;  // before resizing; decides the anyres grid
  std::int64_t source_width_px = 0;
};

enum class ImageTiling : int { kAnyRes = 1, kSingle = 2 };  // kSingle: a turn brings more than one image

}  // namespace winnow
