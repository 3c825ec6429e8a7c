// Goes to a place of a video where decoding can begin: a keyframe that is shown at or before a time.
//
// Used by VideoDecoder and ShownPictures. Containers land somewhere near a time, some of them too late: then it goes further back, ever
// longer steps, and from the beginning at last. Errors: as VideoContainer. Threads: one at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "app/media/video_container.h"

namespace winnow::app {

inline constexpr double kFirstStepBackS = 1.0;
inline constexpr double kStepBackGrowth = 3.0;

inline std::int64_t decodeTime(const AVPacket& packet) { return packet.dts != AV_NOPTS_VALUE ? packet.dts : packet.pts; }
inline std::int64_t showTime(const AVPacket& packet) { return packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts; }

// Show times of the packets of a stream, as they come. Of several pictures in one packet of a program stream only the first says its time;
// the others count as late behind their decoding as the first packet is, which is right for the last ones and for the times in all.
class ShowTimes {
 public:
  // AV_NOPTS_VALUE where nothing tells.
  std::int64_t of(const AVPacket& packet) {
    if (packet.pts == AV_NOPTS_VALUE) return packet.dts == AV_NOPTS_VALUE ? AV_NOPTS_VALUE : packet.dts + m_delay.value_or(0);
    if (packet.dts != AV_NOPTS_VALUE && !m_delay) m_delay = std::max<std::int64_t>(0, packet.pts - packet.dts);
    return packet.pts;
  }

 private:
  std::optional<std::int64_t> m_delay;
};

struct SearchWork {
  std::int64_t seeks = 0;
  std::int64_t packetsRead = 0;
};

// The keyframe's packet is in `packet` and the next one that is read follows it. The first keyframe of all where none is shown so early.
// False: the container has none. Work is added to `work`.
bool seekKeyframe(VideoContainer& container, std::int64_t target, AVPacket& packet, SearchWork& work);

}  // namespace winnow::app
