// Pixels of an image or of video frames, resized, tiled and normalised as transformers does it.
//
// Used by engine/models. Images follow LlavaOnevisionImageProcessor over Pillow: anyres (base image and tiles of the best pinpoint, padded
// with black before scaling), or one square padded with the mean colour when a turn brings several images. Frames follow
// LlavaOnevisionVideoProcessor over torchvision's 8-bit antialiased resize, which is another implementation with other rounding (resize.h).
// Input: upright RGB8, 1 to 16,384 px a side, at most 64 Mpx and 200:1; output fp32. Errors: Exception kInvalidArgument for an image that
// is not what it says, kLimitExceeded for its size. Threads: const calls from several threads.
#pragma once

#include <span>
#include <vector>

#include "engine/media/frame_source.h"
#include "engine/models/llava_onevision/processor_config.h"
#include "engine/vision/pixel_values.h"

namespace winnow {

enum class ImageTiling : int { kAnyRes = 1, kSingle = 2 };  // kSingle: a message brings more than one image

class ImageProcessor {
 public:
  // Both sizes are squares of the same side (the family's configuration has checked it).
  ImageProcessor(ImageProcessorConfig image, FrameProcessorConfig video);

  // [1 + tiles, 3, side, side] for kAnyRes, [1, 3, side, side] for kSingle.
  PixelValues image(const RgbImage& image, ImageTiling tiling) const;

  // [frames, 3, side, side]; the frames may differ in size, source_* are the first one's.
  PixelValues frames(std::span<const RgbImage> frames) const;

 private:
  ImageProcessorConfig image_;
  FrameProcessorConfig video_;
};

}  // namespace winnow
