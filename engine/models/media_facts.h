// What is known of an image or a video before anything of it is decoded: all that a family needs to say which tokens it will become.
//
// Made by engine/generation from a FrameSource, read by the families. Plain data, no torch.
#pragma once

#include <cstdint>

#include "engine/media/frame_source.h"

namespace winnow {

struct MediaFacts {
  MediaKind kind = MediaKind::kImage;
  PictureSize picture;      // as delivered; of frames that differ in size, the first one's
  std::int64_t frames = 1;  // of a video: all, or those of a clip
  double duration_s = 0.0;  // seconds that the frames cover; 0: an image, or not known yet
  bool only_image = true;   // of its message
};

}  // namespace winnow
