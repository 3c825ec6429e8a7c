// The parts of a stream of packets whose clock starts anew on the way, put behind one another: recordings that were joined byte by byte, a
// receiver that was restarted. The clock is the one that running sources have (live/stream_clock.h).
//
// Made by video_length.h for transport and program streams, which have no index; used by VideoContainer, which gives every packet its time
// on the one line, and finds keyframes by it. Times are ticks of the stream, positions bytes of the file. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "app/media/files/av_handles.h"
#include "app/media/files/live/stream_clock.h"

namespace winnow::app {

class ClockStretches {
 public:
  // frameS: how long a frame lasts where the stream does not say; tickS: of the stream's time base.
  ClockStretches(double frameS, double tickS) : m_clock(frameS), m_tickS(tickS) {}

  // The packets from the first to the last, in the order of the file, as the demuxer gives them.
  void add(const AVPacket& packet);

  // The shift of the time stamps of the last packet.
  std::int64_t shift() const { return m_stretches.back().shift; }
  // True if the clock started anew at all.
  bool jumps() const { return m_clock.jumps() > 0; }
  // The shift of the time stamps of a packet at `position`.
  std::int64_t shiftAt(std::int64_t position) const;
  // The start of the last keyframe that is shown at `ticks` of the line or before; negative: there is none.
  std::int64_t keyframeBefore(std::int64_t ticks) const;

 private:
  struct Stretch {
    std::int64_t position = 0;
    std::int64_t shift = 0;
  };
  struct Keyframe {
    std::int64_t ticks = 0;
    std::int64_t position = 0;
  };

  StreamClock m_clock;
  const double m_tickS;
  std::optional<std::int64_t> m_firstStamp;
  std::int64_t m_lastStamp = 0;
  std::int64_t m_lastPosition = 0;
  std::vector<Stretch> m_stretches{{}};
  std::vector<Keyframe> m_keyframes;
};

}  // namespace winnow::app
