// A video file, opened (media_container.h).
//
// Used by the probe and VideoFrameSource. Only the chosen video stream is delivered. Errors: kUnsupportedFormat (codec outside the list, no
// video, encrypted), kDamagedFile, kLimitExceeded, Interrupted. Threads: one at a time.
#pragma once

#include <memory>
#include <utility>

#include "app/media/files/allowed_video.h"
#include "app/media/files/av_handles.h"
#include "app/media/files/clock_stretches.h"
#include "app/media/files/content_type.h"
#include "app/media/files/decode_watch.h"
#include "app/media/files/limits.h"
#include "app/media/files/media_container.h"
#include "app/media/files/media_file.h"

namespace winnow::app {

class VideoContainer : public MediaContainer {
 public:
  // ownBytes: as MediaContainer's.
  VideoContainer(const MediaFile& file, ContentType type, std::int64_t ownBytes, const MediaLimits& limits, const DecodeWatch& watch);

  ContentType type() const { return m_type; }
  AVStream& stream() { return *m_video.stream; }
  const AVStream& stream() const { return *m_video.stream; }
  // When the first picture is shown, in ticks of the stream's time base.
  std::int64_t startTicks() const { return m_video.stream->start_time != AV_NOPTS_VALUE ? m_video.stream->start_time : 0; }
  // The latest that a frame on screen at timeS may start; of seconds that count from the beginning of the file (frame_time.h).
  std::int64_t ticksAt(double timeS) const;
  double secondsAt(std::int64_t ticks) const;
  // The number in the index of the last keyframe that it lists at or before `ticks`; negative: there is none.
  std::int64_t indexedKeyframe(std::int64_t ticks) const;
  // The stream and the decoder allowed for its codec.
  const ChosenVideo& video() const { return m_video; }

  // Tells where the clock starts anew on the way; from now on packets have their time on the one line.
  void setStretches(std::shared_ptr<const ClockStretches> stretches) { m_stretches = std::move(stretches); }

  // Next packet of the video stream; false at the end of what can be read. Throws Interrupted or kLimitExceeded.
  bool readPacket(AVPacket& packet);
  // The end of the bytes of the furthest packet read so far, of any stream; 0: none said where it stands.
  std::int64_t readTo() const { return m_readTo; }
  // Goes to a place at or before `timestamp` (stream time base) where decoding can begin, as far as the container knows one.
  // False when the container cannot seek there.
  bool seekBackwardTo(std::int64_t timestamp);
  // The same where positions are looked at instead of times.
  bool seekToByte(std::int64_t position);
  // Goes to the beginning of the file.
  bool rewind();

 private:
  void place(AVPacket& packet);

  const ContentType m_type;
  ChosenVideo m_video;
  std::shared_ptr<const ClockStretches> m_stretches;  // of all containers of the file; usually none
  std::int64_t m_readTo = 0;
  std::int64_t m_packetAt = 0;  // the last position that a packet named
};

}  // namespace winnow::app
