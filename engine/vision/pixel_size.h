// Sizes of pictures, and the filters that resize them. Plain values, no torch.
#pragma once

#include <cstdint>

namespace winnow {

struct PixelSize {
  std::int64_t height_px = 0;
  std::int64_t width_px = 0;
  friend bool operator==(const PixelSize&, const PixelSize&) = default;
};

// Pillow's numbers, as the files have them.
enum class ResampleFilter : int { kLanczos = 1, kBilinear = 2, kBicubic = 3 };

}  // namespace winnow
