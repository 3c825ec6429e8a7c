// Frames of a running source, in order, on one rising line of time that begins where the source does (frame_time.h).
//
// Used by LiveSource. Damaged pictures are passed over and said; a change of codec or stream in the middle makes a new decoder. Errors: as
// LiveContainer. Threads: the reading thread; FFmpeg decodes on two of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "app/media/files/av_handles.h"
#include "app/media/files/frame_time.h"
#include "app/media/files/live/live_container.h"
#include "app/media/files/live/stream_clock.h"
#include "engine/media/media_notice.h"

namespace winnow::app {

class LiveDecoder {
 public:
  LiveDecoder(LiveContainer& container, const MediaLimits& limits);

  struct Timed {
    AvFrame frame;
    double timeS = 0.0;  // from the beginning of the source
  };
  // Waits for the next frame; nullopt when there will be none: end() says why.
  std::optional<Timed> next();

  LiveEnd end() const { return m_end; }
  // How long a frame lasts, as seen last; seconds.
  double frameS() const { return m_clock.frameS(); }
  // The faults tolerated so far, each at most once.
  const std::vector<MediaNotice>& notices() const { return m_notices; }

 private:
  void feed();
  void send();
  double place(const AVFrame& frame);

  LiveContainer& m_container;
  const MediaLimits m_limits;
  AvDecoder m_codec;
  double m_tickS = 0.0;
  FrameTimes m_frameTimes;
  StreamClock m_clock;
  AvPacket m_packet;
  bool m_pending = false;    // m_packet was read and not yet taken by the decoder
  bool m_draining = false;   // the decoder was told that nothing follows
  bool m_replacing = false;  // and m_packet belongs to the one after it
  bool m_seen = false;       // a frame came
  std::int64_t m_bytesWithoutFrame = 0;
  LiveEnd m_end = LiveEnd::kNotYet;
  std::vector<MediaNotice> m_notices;
};

}  // namespace winnow::app
