// Frames of a video by time, decoding as little as possible.
//
// Used by VideoFrameSource. For a time t it gives the frame that is on screen at t: the last one that starts at or before t, or the first
// of the video. Times of one pass rise, so it decodes on from where it is, and jumps to a keyframe only when one lies between there and
// t; a jump that lands in the group being decoded is turned into reading past what was decoded before. Where the pictures are damaged it
// takes the nearest one that can be decoded and says so. Errors: kDamagedFile (no frame at all), kLimitExceeded, Interrupted. Threads:
// one at a time; FFmpeg decodes on two of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/media/av_handles.h"
#include "app/media/video_container.h"

namespace winnow::app {

struct DecodeCounters {
  std::int64_t packetsRead = 0;     // delivered by the demuxer
  std::int64_t packetsDecoded = 0;  // given to the decoder
  std::int64_t seeks = 0;
};

class VideoDecoder {
 public:
  enum class IndexTrust : int { kUntrusted = 1, kTrusted = 2 };  // does the container's index list every keyframe?

  VideoDecoder(VideoContainer& container, const MediaLimits& limits, const DecodeWatch& watch, IndexTrust trust);

  struct Shown {
    const AVFrame* frame = nullptr;  // valid until the next call
    double startS = 0.0;             // from the first frame of the video
  };
  Shown frameAt(double timeS);

  const DecodeCounters& counters() const { return m_counters; }
  // What had to be put up with so far, as English clauses, each at most once.
  const std::vector<std::string>& notices() const { return m_notices; }

 private:
  struct Timed {
    AvFrame frame;
    std::int64_t pts = 0;
  };

  std::int64_t toTicks(double timeS) const;
  bool worthSeeking(std::int64_t target) const;
  void seekTo(std::int64_t target);
  // Moves the demuxer to a keyframe shown at or before target, walking back while it lands too late. False: there is none at all.
  bool findKeyframe(std::int64_t target);
  void advanceTo(std::int64_t target);
  void retreatBefore(std::int64_t target);
  std::optional<Timed> nextFrame();
  void feed();
  void restart();
  void notice(const std::string& text);

  VideoContainer& m_container;
  const DecodeWatch& m_watch;
  const IndexTrust m_trust;
  AvDecoder m_codec;
  AvPacket m_packet;
  bool m_packetPending = false;  // m_packet was read and not yet used

  std::optional<Timed> m_shown;  // last frame at or before the latest target
  std::optional<Timed> m_ahead;  // the one after it
  bool m_positioned = false;
  bool m_draining = false;  // the end was fed; the decoder must be restarted before it takes packets again
  bool m_ended = false;     // and its last frame came out
  std::int64_t m_start = 0;
  std::int64_t m_lastFedDts = AV_NOPTS_VALUE;
  std::int64_t m_skipThroughDts = AV_NOPTS_VALUE;  // packets up to here were decoded before the last jump
  std::int64_t m_firstShowablePts = AV_NOPTS_VALUE;
  std::int64_t m_lastPts = AV_NOPTS_VALUE;
  DecodeCounters m_counters;
  std::vector<std::string> m_notices;
};

}  // namespace winnow::app
