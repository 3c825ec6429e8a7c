// Frames of a video by time, decoding as little as possible.
//
// Used by VideoFrameSource. For a time t it gives the frame that is on screen at t: the last one that starts at or before t, or the first
// of the video. Times of one pass rise, so it decodes on from where it is, and jumps to a keyframe only when one lies between there and
// t; a jump that lands at a keyframe that was decoded before is turned into reading past all that was fed since. On the way it leaves out
// pictures that are not wanted and that no other one leans on (H.264, HEVC); where what it relied on then does not come out, it goes back
// and decodes all. Where the pictures are damaged it takes the nearest one that can be decoded and says so. Errors: kDamagedFile (no frame
// at all), kLimitExceeded, Interrupted. Threads: one at a time, beside FFmpeg's own.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "app/media/files/av_handles.h"
#include "app/media/files/frame_time.h"
#include "app/media/files/video_container.h"
#include "engine/media/media_notice.h"

namespace winnow::app {

struct DecodeCounters {
  std::int64_t packetsRead = 0;     // delivered by the demuxer
  std::int64_t packetsDecoded = 0;  // given to the decoder
  std::int64_t framesDecoded = 0;   // that came out of it
  std::int64_t seeks = 0;

  DecodeCounters& operator+=(const DecodeCounters& more);
};

class VideoDecoder {
 public:
  enum class IndexTrust : int { kUntrusted = 1, kTrusted = 2 };  // does the container's index list every keyframe?

  // The place of the frame that will be asked for next: close by, or after another keyframe. A guess that is wrong costs time alone.
  enum class Following : int { kClose = 1, kElsewhere = 2 };

  // threads: FFmpeg's own. Container, limits and watch are borrowed.
  VideoDecoder(VideoContainer& container, const MediaLimits& limits, const DecodeWatch& watch, IndexTrust trust, int threads);

  struct Shown {
    const AVFrame* frame = nullptr;  // valid until the next call
    double startS = 0.0;             // from the beginning of the file
  };
  Shown frameAt(double timeS, Following following);

  const DecodeCounters& counters() const { return m_counters; }
  // The faults tolerated so far, each at most once.
  const std::vector<MediaNotice>& notices() const { return m_notices; }

 private:
  struct Timed {
    AvFrame frame;
    std::int64_t pts = 0;
  };
  // A keyframe's place and time, by which it is known again after a jump, and the packets that were fed before it.
  struct FedKeyframe {
    std::int64_t position = -1;
    std::int64_t shows = AV_NOPTS_VALUE;
    std::int64_t before = 0;
  };

  bool worthSeeking(std::int64_t target) const;
  void seekTo(std::int64_t target);
  void advanceTo(std::int64_t target);
  // True if the decoder may leave this one out if no other leans on it: a later one is wanted.
  bool isPassed(const AVPacket& packet) const;
  // True if all that is shown up to the target has been fed, and nothing close behind it is wanted.
  bool mayLeaveBefore(const AVPacket& packet) const;
  void drain();
  void retreatBefore(std::int64_t target);
  std::optional<Timed> nextFrame();
  // True if a frame is left out because what it leans on was not decoded.
  bool leansOnUndecoded(const AVFrame& frame, std::int64_t pts);
  void feed();
  void noteFed(const AVPacket& packet);
  // Counts the packets from this one on that were fed since the decoder restarted; 0: it is none of them.
  std::int64_t fedFrom(const AVPacket& keyframe) const;
  void restart();

  VideoContainer& m_container;
  const DecodeWatch& m_watch;
  const IndexTrust m_trust;
  AvDecoder m_codec;
  FrameTimes m_frameTimes;
  AvPacket m_packet;
  bool m_packetPending = false;  // m_packet was read and not yet used

  std::optional<Timed> m_shown;  // last frame at or before the latest target
  std::optional<Timed> m_ahead;  // the one after it
  bool m_positioned = false;
  bool m_draining = false;        // the end was fed; the decoder must be restarted before it takes packets again
  bool m_ended = false;           // and its last frame came out
  bool m_left = false;            // drained before the end of the video
  bool m_sparing;                 // until something did not come out as foreseen; needs packets that say when they are shown
  const bool m_marksUnused;       // the codec tells pictures that no other leans on
  bool m_awaitsKeyframe = false;  // the decoder would show what leans on nothing, and the mark of the container may be wrong
  std::int64_t m_target = 0;
  Following m_following = Following::kClose;
  std::int64_t m_passedPts = AV_NOPTS_VALUE;  // latest start among what was fed for the target or before it
  std::int64_t m_start = 0;
  std::int64_t m_lastFedTicks = AV_NOPTS_VALUE;  // about when the latest is decoded
  std::int64_t m_fed = 0;                        // packets since the decoder began anew
  std::vector<FedKeyframe> m_fedKeyframes;
  std::int64_t m_skip = 0;  // packets to come that were fed before the last jump
  std::int64_t m_firstShowablePts = AV_NOPTS_VALUE;
  bool m_keyframeMayBeLate = false;  // it does not say when it is shown
  std::int64_t m_lastPts = AV_NOPTS_VALUE;
  DecodeCounters m_counters;
  std::vector<MediaNotice> m_notices;
};

}  // namespace winnow::app
