// Goes to a place of a video where decoding can begin: a keyframe that is shown at or before a time.
//
// Used by VideoDecoder and ShownPictures. Containers land somewhere near a time, some of them too late: then it goes further back, ever
// longer steps, and from the beginning at last. Errors: as VideoContainer. Threads: one at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "app/media/files/video_container.h"

namespace winnow::app {

inline constexpr double kFirstStepBackS = 1.0;
inline constexpr double kStepBackGrowth = 3.0;

// About when a packet is decoded. Where it does not say, that is when it is shown, which may be much later: no order follows from it.
inline std::int64_t decodeTime(const AVPacket& packet) { return packet.dts != AV_NOPTS_VALUE ? packet.dts : packet.pts; }
inline std::int64_t showTime(const AVPacket& packet) { return packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts; }

// Show times of the packets of a stream, as they come. Of several pictures in one packet of a stream of packets only the first says its
// time. FFmpeg counts on when the others are decoded; one that later pictures lean on is shown when the next such picture is decoded, which
// is when the decoder gives it. AVI says when a picture is decoded alone: there that stands for when it is shown.
class ShowTimes {
 public:
  explicit ShowTimes(ContentType container) : m_waits(isPacketStream(container)) {}

  struct Told {
    std::int64_t own = AV_NOPTS_VALUE;     // when the packet's picture is shown
    std::int64_t before = AV_NOPTS_VALUE;  // when the one is shown that had to wait for this packet
  };
  Told told(const AVPacket& packet) {
    if (!m_waits) return {showTime(packet), AV_NOPTS_VALUE};
    Told times{packet.pts, AV_NOPTS_VALUE};
    if (packet.dts == AV_NOPTS_VALUE) return times;
    const bool leant = packet.pts == AV_NOPTS_VALUE || packet.pts > packet.dts;
    if (leant && std::exchange(m_waiting, packet.pts == AV_NOPTS_VALUE)) times.before = packet.dts;
    m_end = packet.dts + std::max<std::int64_t>(1, packet.duration);
    return times;
  }
  // Others follow than those so far.
  void restart() { m_waiting = false; }
  // When the one is shown that waits at the end of the stream; AV_NOPTS_VALUE: none does.
  std::int64_t last() const { return m_waiting ? m_end : AV_NOPTS_VALUE; }

 private:
  const bool m_waits;
  bool m_waiting = false;
  std::int64_t m_end = AV_NOPTS_VALUE;
};

struct SearchWork {
  std::int64_t seeks = 0;
  std::int64_t packetsRead = 0;
};

// The keyframe's packet is in `packet` and the next one that is read follows it. The first keyframe of all where none is shown so early.
// False: the container has none. Work is added to `work`.
bool seekKeyframe(VideoContainer& container, std::int64_t target, AVPacket& packet, SearchWork& work);

}  // namespace winnow::app
