// A running source opened with FFmpeg: packets of its video, as they come.
//
// Used by LiveDecoder. Bytes of files, pipes and networks are recognised by how they begin and given to one named demuxer, which can open
// nothing itself and cannot go back; cameras and screens are one named device each. A video stream that appears later takes over (a sender
// that was restarted). Errors (constructor, readPacket): kUnsupportedFormat, kDamagedFile, kLimitExceeded, kFileNotFound, kFileUnreadable,
// kDeviceUnavailable. Threads: the reading thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/media/files/allowed_video.h"
#include "app/media/files/content_type.h"
#include "app/media/files/limits.h"
#include "app/media/files/live/live_bytes.h"
#include "app/media/files/live/live_request.h"
#include "app/media/files/live/stall_guard.h"
#include "app/media/files/live/stream_units.h"

namespace winnow::app {

class LiveContainer {
 public:
  enum class Read : int {
    kPacket = 1,
    kNewVideo,  // a packet of another video than before: video() has changed
    kEnd,       // end() says why
  };

  // Waits for the beginning. A source that stalls or is closed before that has video().stream == nullptr and is at its end. `watch` is
  // borrowed.
  LiveContainer(const LiveRequest& request, const MediaLimits& limits, StallGuard& watch);
  ~LiveContainer();
  LiveContainer(const LiveContainer&) = delete;
  LiveContainer& operator=(const LiveContainer&) = delete;

  const std::string& address() const { return m_request.address; }
  const ChosenVideo& video() const { return m_video; }
  ContentType type() const { return m_type; }
  // When a player's clock shows 0, seconds of the stream's own clock; nullopt: nothing says.
  std::optional<double> originS() const;
  // Shape of the pixels where a frame does not say it.
  AVRational pixelShape() const;
  LiveEnd end() const { return m_end; }
  // It ended before its time.
  bool brokeOff() const { return m_bytes && m_bytes->brokeOff(); }

  Read readPacket(AVPacket& packet);
  // How many frames that passed the demuxer remembers; bounded by MediaLimits::liveIndexEntries.
  int indexEntries() const;
  // Times that the demuxer was replaced by a new one, because it remembered too many.
  int reopenings() const { return m_reopenings; }

 private:
  static int readCallback(void* self, std::uint8_t* buffer, int bytes);
  static int closedCallback(void* self);
  // Calls `open`; a source that ended meanwhile is at its end, without an error.
  void openOrEnd(void (LiveContainer::*open)());
  void openFirst();
  void openAgain();
  void recogniseStream();
  void openStream();
  void openDevice();
  std::vector<std::uint8_t> readHead();
  void makeFormat();
  void choose();
  void keepTime(AVPacket& packet);
  LiveEnd endOfReading() const;
  bool belongs(const AVPacket& packet, bool& replaced);
  void close() noexcept;

  const LiveRequest m_request;
  const MediaLimits m_limits;
  StallGuard& m_watch;
  const RawPictures m_raw;
  std::unique_ptr<LiveBytes> m_bytes;    // none for devices
  std::unique_ptr<StreamUnits> m_units;  // between the bytes and the demuxer
  ContentType m_type = ContentType::kMpegTs;
  AVIOContext* m_io = nullptr;
  AVFormatContext* m_format = nullptr;
  ChosenVideo m_video;
  unsigned m_knownStreams = 0;
  int m_reopenings = 0;
  int m_timedReopenings = 0;                // whose first packet came
  std::int64_t m_nextDts = AV_NOPTS_VALUE;  // after the last packet, as it was given
  std::int64_t m_shift = 0;                 // what a replaced demuxer that counts from the start is behind
  LiveEnd m_end = LiveEnd::kNotYet;
};

}  // namespace winnow::app
