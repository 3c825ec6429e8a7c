// The facts about an image or video that are known before it is decoded: enough for a family to compute its tokens and the text around
// them.
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
  // For a video: presentation times of its frames in seconds (FrameSource::shown_times_s; of a running source as requested).
  std::vector<double> times_s = {};
  std::int64_t frames_before = 0;  // frames of the same source that were read earlier
  std::int64_t most_tokens = 0;    // of a picture, or of a frame (of joined ones together), if the family can; 0: as the model's files say
  // All frames of a video's plan, of which these may be a part (FramePlan::taken). 0: these.
  std::int64_t planned_frames = 0;
};

// The size of its picture, height first.
inline PixelSize size_of(const MediaFacts& facts) { return {facts.picture.height_px, facts.picture.width_px}; }

// The times that a prompt writes beside a video's frames.
struct VideoTimes {
  double duration_s = 0.0;
  int frames = 0;
  std::vector<double> times_s = {};  // MediaFacts::times_s; of a running source the first frame's alone
  bool endless = false;              // a running source: duration and number of frames are unknown

  double first_s() const { return times_s.empty() ? 0.0 : times_s.front(); }
};

// A prompt's new media, known before the prompt is written: videos and images, each in thread order.
struct PromptMedia {
  std::vector<VideoTimes> videos = {};
  std::vector<PictureSize> images = {};  // as delivered
};

// Text before and after a medium. It counts as the template's own text: it is encoded together with its neighbours.
struct TextAround {
  std::string before;
  std::string after;
};

}  // namespace winnow
