// Looks at what an opened video holds: size, time, colours, and whether all of it is there.
//
// Used by probe() and VideoFrameSource. Reads headers, the index and, where these are missing or not to be believed, packets; decodes
// nothing. A length that the header claims is checked against the last packets of the file. Errors: kDamagedFile, kLimitExceeded,
// Interrupted.
#pragma once

#include "app/media/files/container_extent.h"
#include "app/media/files/decode_watch.h"
#include "app/media/files/media_reader.h"
#include "app/media/files/orientation.h"
#include "app/media/files/video_container.h"
#include "app/media/files/video_decoder.h"

namespace winnow::app {

struct VideoFacts {
  MediaInfo info;
  Orientation orientation = Orientation::kUpright;
  int storedWidthPx = 0;  // with square pixels, before the orientation is applied
  int storedHeightPx = 0;
  VideoDecoder::IndexTrust indexTrust = VideoDecoder::IndexTrust::kUntrusted;
  std::int64_t steadyTicks = 0;                     // that every picture lasts, by a complete index; 0: they differ, or nothing tells
  std::int64_t startTicks = 0;                      // of the first picture, which the header may lack
  std::shared_ptr<const ClockStretches> stretches;  // of a clock that starts anew on the way; usually none
};

// Throws what a video without an index gets: call before FFmpeg sees the file.
void requirePlayable(const MediaFile& file, ContentType type, const ContainerExtent& extent);

// The demuxer's position afterwards is anywhere.
// extent: of the file, whose own bytes the container reads.
VideoFacts examineVideo(VideoContainer& container, const MediaFile& file, const ContainerExtent& extent, const MediaLimits& limits,
                        const DecodeWatch& watch);

}  // namespace winnow::app
