// Pixels of an image or of video frames as SmolVLM's tower takes them: resized, cut into tiles, scaled.
//
// Used by smolvlm.cpp. Images follow transformers' SmolVLMImageProcessor (Pillow, numpy) or SmolVLMImageProcessorFast (torchvision's resize
// of a float tensor, rounded to bytes after each step); the library is the folder's choice (smolvlm_folder.h). Frames follow
// SmolVLMVideoProcessor: torch's 8-bit antialiased resize, to the longest edge and then to a square. Input: upright RGB8, see
// vision/pixel_size.h. Output fp32, all pictures squares of one size, so that nothing is ever padded and every patch counts (do_pad,
// the pixel attention mask). Errors: Exception kInvalidArgument, kLimitExceeded. Threads: const calls from several threads.
#pragma once

#include <span>

#include "engine/media/frame_source.h"
#include "engine/models/families/smolvlm_folder.h"
#include "engine/vision/pixel_values.h"

namespace winnow {

class SmolVlmImageProcessor {
 public:
  explicit SmolVlmImageProcessor(const SmolVlmProcessorConfig& config) : config_(config) {}

  // [tiles + 1, 3, side, side]: the tiles row by row, then the whole picture; of one that is not cut [1, 3, side, side].
  PixelValues image(const RgbImage& image) const { return this->image(image, config_.image.tiles); }
  // The same under other rules, of tiles as large.
  PixelValues image(const RgbImage& image, const TileRules& rules) const;

  // [frames, 3, side, side]; the frames may differ in size, source_* are the first one's.
  PixelValues frames(std::span<const RgbImage> frames) const;

 private:
  SmolVlmProcessorConfig config_;
};

}  // namespace winnow
