// A video file opened with FFmpeg over our own reader: one named demuxer, no other file, no network, no device.
//
// Used by the probe and VideoFrameSource. Owns the demuxer; the file and the watch are borrowed and must outlive it. Only the chosen video
// stream is delivered. Errors: kUnsupportedFormat (codec outside the list, no video, encrypted), kDamagedFile, kLimitExceeded, Interrupted.
// Threads: one at a time.
#pragma once

#include "app/media/allowed_video.h"
#include "app/media/av_handles.h"
#include "app/media/content_type.h"
#include "app/media/decode_watch.h"
#include "app/media/limits.h"
#include "app/media/media_file.h"

namespace winnow::app {

class VideoContainer {
 public:
  VideoContainer(const MediaFile& file, ContentType type, const MediaLimits& limits, const DecodeWatch& watch);
  ~VideoContainer();
  VideoContainer(const VideoContainer&) = delete;
  VideoContainer& operator=(const VideoContainer&) = delete;

  const std::string& path() const { return m_file.path(); }
  ContentType type() const { return m_type; }
  AVFormatContext& format() { return *m_format; }
  AVStream& stream() { return *m_video.stream; }
  // Where the video's own time begins, in ticks of the stream's time base.
  std::int64_t startTicks() const { return m_video.stream->start_time != AV_NOPTS_VALUE ? m_video.stream->start_time : 0; }
  // The latest that a frame on screen timeS after that may start.
  std::int64_t ticksAt(double timeS) const;
  // The number in the index of the last keyframe that it lists at or before `ticks`; negative: there is none.
  std::int64_t indexedKeyframe(std::int64_t ticks) const;
  // The stream and the decoder allowed for its codec.
  const ChosenVideo& video() const { return m_video; }

  // Next packet of the video stream; false at the end of what can be read. Throws Interrupted or kLimitExceeded.
  bool readPacket(AVPacket& packet);
  // Goes to a place at or before `timestamp` (stream time base) where decoding can begin, as far as the container knows one.
  // False when the container cannot seek there.
  bool seekBackwardTo(std::int64_t timestamp);
  // Goes to the beginning of the file.
  bool rewind();

 private:
  static int readCallback(void* self, std::uint8_t* buffer, int bytes);
  static std::int64_t seekCallback(void* self, std::int64_t offset, int whence);
  void close() noexcept;

  const MediaFile& m_file;
  const ContentType m_type;
  const MediaLimits m_limits;
  const DecodeWatch& m_watch;
  std::int64_t m_position = 0;
  AVIOContext* m_io = nullptr;
  AVFormatContext* m_format = nullptr;
  ChosenVideo m_video;
};

}  // namespace winnow::app
