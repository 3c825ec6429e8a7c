#include "engine/models/families/llava_onevision_pixels.h"

namespace winnow {

ImageProcessor::ImageProcessor(const ImageProcessorConfig& image, const PictureRules& video) : image_(image), video_(video) {
  image_.pad_to_square = true;  // of an image that is not tiled
}

PixelValues ImageProcessor::image(const RgbImage& image, ImageTiling tiling, std::span<const PixelSize> pinpoints) const {
  if (tiling == ImageTiling::kSingle) return whole_pictures({&image, 1}, image_);
  return tiled_picture(image, image_, pinpoints);
}

}  // namespace winnow
