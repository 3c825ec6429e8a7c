#include "app/media/keyframe_search.h"

#include <algorithm>

namespace winnow::app {

bool seekKeyframe(VideoContainer& container, std::int64_t target, AVPacket& packet, SearchWork& work) {
  const double tickS = av_q2d(container.stream().time_base);
  const std::int64_t first = std::min(container.startTicks(), target);
  double backS = 0.0;
  for (;;) {
    const double wanted = static_cast<double>(target) - backS / tickS;
    const bool atStart = wanted <= static_cast<double>(first);
    const std::int64_t timestamp = atStart ? first : static_cast<std::int64_t>(wanted);
    ++work.seeks;
    bool found = atStart ? container.rewind() : container.seekBackwardTo(timestamp);
    if (found) {
      // What a program stream counts on from where it was joined is off by a field until a picture says its time.
      bool timed = atStart || !isPacketStream(container.type());
      while ((found = container.readPacket(packet))) {
        ++work.packetsRead;
        timed = timed || packet.pts != AV_NOPTS_VALUE;
        if ((packet.flags & AV_PKT_FLAG_KEY) != 0 && timed) break;
        // Past the target and no keyframe yet: this landing place was too late, reading on would not help.
        if (!atStart && decodeTime(packet) != AV_NOPTS_VALUE && decodeTime(packet) > target) {
          found = false;
          break;
        }
      }
    }
    if (found && (atStart || showTime(packet) == AV_NOPTS_VALUE || showTime(packet) <= target)) return true;
    if (atStart) return false;
    backS = backS == 0.0 ? kFirstStepBackS : backS * kStepBackGrowth;
  }
}

}  // namespace winnow::app
