// What is known of an image or a video before anything of it is decoded: all that a family needs to say which tokens it will become, and
// what it writes around them.
//
// Made by engine/generation from a FrameSource, read by the families. Plain data, no torch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/media/frame_source.h"
#include "engine/vision/pixel_size.h"

namespace winnow {

struct MediaFacts {
  MediaKind kind = MediaKind::kImage;
  PictureSize picture;      // as delivered; of frames that differ in size, the first one's
  std::int64_t frames = 1;  // of a video: all, or those of a clip
  double duration_s = 0.0;  // seconds that the frames cover; 0: an image, or not known yet
  bool only_image = true;   // of its message
  // Of a video: when its frames are shown, in seconds (FrameSource::shown_times_s; of a running source as they were asked for); and how
  // many of the same source were read before them.
  std::vector<double> times_s = {};
  std::int64_t frames_before = 0;
};

// Of its picture, rows first.
inline PixelSize size_of(const MediaFacts& facts) { return {facts.picture.height_px, facts.picture.width_px}; }

// What a prompt says about a video beside its frames.
struct VideoTimes {
  double duration_s = 0.0;
  int frames = 0;
  std::vector<double> times_s = {};  // MediaFacts::times_s of its frames; of a source that is still running the first one's alone
  bool endless = false;              // such a source: how long it is, and how many frames it has, nobody knows

  double first_s() const { return times_s.empty() ? 0.0 : times_s.front(); }
};

// What is known of a prompt's new media before it is written: of its videos and of its images, each in thread order.
struct PromptMedia {
  std::vector<VideoTimes> videos = {};
  std::vector<PictureSize> images = {};  // as delivered
};

// What a prompt says before and behind a medium, as the template's own text: it is encoded together with what is beside it.
struct TextAround {
  std::string before;
  std::string after;
};

}  // namespace winnow
