#include "engine/models/families/gemma3_pixels.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "engine/models/vision/picture_preparation.h"
#include "engine/vision/pixel_size.h"

namespace winnow {
namespace {

// A copy of the crop at (top, left), which may end before its size does.
RgbImage cut_out(const RgbImage& picture, PixelSize at, PixelSize size) {
  RgbImage crop;
  crop.height_px = static_cast<int>(std::min(size.height_px, picture.height_px - at.height_px));
  crop.width_px = static_cast<int>(std::min(size.width_px, picture.width_px - at.width_px));
  const auto row_bytes = static_cast<std::size_t>(crop.width_px) * 3;
  crop.rgb.resize(static_cast<std::size_t>(crop.height_px) * row_bytes);
  for (std::int64_t y = 0; y < crop.height_px; ++y) {
    const std::uint8_t* from = picture.rgb.data() + ((at.height_px + y) * picture.width_px + at.width_px) * 3;
    std::memcpy(crop.rgb.data() + static_cast<std::size_t>(y) * row_bytes, from, row_bytes);
  }
  return crop;
}

}  // namespace

PixelValues gemma3_squares(const RgbImage& picture, const Gemma3Pixels& pixels) {
  const CropGrid grid = crops_of(checked_size(picture), pixels.crops);
  PixelValues values = whole_pictures(std::span(&picture, 1), pixels.image);
  if (grid.crops() == 0) return values;
  std::vector<RgbImage> crops;
  for (std::int64_t crop = 0; crop < grid.crops(); ++crop) {
    const PixelSize at{crop / grid.columns * grid.crop.height_px, crop % grid.columns * grid.crop.width_px};
    crops.push_back(cut_out(picture, at, grid.crop));
  }
  values.pixels = at::cat({values.pixels, whole_pictures(crops, pixels.image).pixels});
  return values;
}

}  // namespace winnow
