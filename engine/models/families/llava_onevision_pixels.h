// Pixels of an image or of video frames, resized, tiled and normalised as transformers does it.
//
// Used by llava_onevision.cpp. Images follow LlavaOnevisionImageProcessorFast over torchvision's 8-bit antialiased resize, or
// LlavaOnevisionImageProcessor over Pillow, another implementation with other rounding (llava_onevision_folder.h says which): anyres (base
// image and tiles of the best pinpoint, padded with black before scaling), or one square padded with the mean colour when a turn brings
// several images. Frames follow LlavaOnevisionVideoProcessor, torchvision's. Errors: those of picture_preparation.h. Threads: const calls
// from several threads.
#pragma once

#include <span>

#include "engine/models/families/llava_onevision_folder.h"
#include "engine/models/vision/picture_preparation.h"

namespace winnow {

enum class ImageTiling : int { kAnyRes = 1, kSingle = 2 };  // kSingle: a message brings more than one image

class ImageProcessor {
 public:
  // Both sizes are squares of the same side (the family's configuration has checked it).
  ImageProcessor(const ImageProcessorConfig& image, const PictureRules& video);

  // [1 + tiles, 3, side, side] for kAnyRes, [1, 3, side, side] for kSingle.
  PixelValues image(const RgbImage& image, ImageTiling tiling) const { return this->image(image, tiling, image_.grid_pinpoints); }
  // The same with other resolutions to choose from.
  PixelValues image(const RgbImage& image, ImageTiling tiling, std::span<const PixelSize> pinpoints) const;

  // [frames, 3, side, side]; the frames may differ in size, source_* are the first one's.
  PixelValues frames(std::span<const RgbImage> frames) const { return whole_pictures(frames, video_); }

 private:
  ImageProcessorConfig image_;
  PictureRules video_;
};

}  // namespace winnow
