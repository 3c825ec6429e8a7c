// How long a video is, from the beginning of its file to the end of its last picture, and whether its clock starts anew on the way.
//
// Used by examineVideo(). Reads the index where it is complete, else the packets at the end, else all of them; decodes nothing. The last
// picture lasts as long as the file says of it; of a file that is cut off only what is there counts. Errors: Interrupted, kLimitExceeded.
#pragma once

#include <cstdint>
#include <memory>

#include "app/media/files/clock_stretches.h"
#include "app/media/files/container_extent.h"
#include "app/media/files/decode_watch.h"
#include "app/media/files/video_container.h"

namespace winnow::app {

// Frames in a second; 0 for a rate that no video has.
double plausibleFps(AVRational rate);
inline constexpr double kFallbackFrameS = 0.04;  // of a frame where nothing says how long it lasts

struct VideoLength {
  double durationS = 0.0;                             // 0: nothing tells
  std::int64_t frames = -1;                           // -1: not known without reading the whole file
  bool claimWrong = false;                            // the file says another length
  std::int64_t steadyTicks = 0;                       // that every picture lasts, by a complete index; 0: they differ, or nothing tells
  std::shared_ptr<const ClockStretches> stretches{};  // null: one clock from the beginning to the end
};

// Until when the file says that it plays, seconds from its beginning; 0: it does not.
double claimedPlayS(const VideoContainer& container);

// The demuxer's position afterwards is anywhere. Sets the stream's start time where the header lacks it, and the container's stretches.
VideoLength measureLength(VideoContainer& container, const MediaFile& file, const ContainerExtent& extent, const DecodeWatch& watch);

}  // namespace winnow::app
