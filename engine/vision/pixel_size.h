// Sizes of pictures, the limits that they must keep before anything is computed from them, and the filters that resize them. Plain values,
// no torch.
#pragma once

#include <cstdint>

#include "engine/media/frame_source.h"

namespace winnow {

struct PixelSize {
  std::int64_t height_px = 0;
  std::int64_t width_px = 0;
  friend bool operator==(const PixelSize&, const PixelSize&) = default;
};

// Pillow's numbers, as the files have them.
enum class ResampleFilter : int { kLanczos = 1, kBilinear = 2, kBicubic = 3 };

// The limits that a picture must keep before anything is computed from it.
//
// Errors: Exception kInvalidArgument for an image that is not what it says, kLimitExceeded for its size. Plain function, no torch.

// The picture's size, checked.
PixelSize checked_size(const RgbImage& image);

}  // namespace winnow
