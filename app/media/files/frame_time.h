// When frames are shown: those of a decoder in ticks of their stream, and the moment at which a player's clock shows 0.
//
// Used for files and for running sources, so that both have the same times. AVI and Windows Media say when a packet is decoded and not when
// it is shown: frames come out as many packets late as the decoder holds back, in the order of the packets' times. These need not be even,
// since a picture that stands longer is followed by chunks without one. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>

#include "app/media/files/av_handles.h"
#include "app/media/files/content_type.h"

namespace winnow::app {

class FrameTimes {
 public:
  explicit FrameTimes(ContentType container) : m_byOrder(isTimedByOrder(container)) {}

  // The decoder begins anew.
  void restart() {
    m_fed.clear();
    m_last = AV_NOPTS_VALUE;
  }
  // Takes the packets as the decoder does.
  void fed(const AVPacket& packet) {
    if (!m_byOrder || (packet.dts == AV_NOPTS_VALUE && m_fed.empty())) return;
    m_fed.push_back(packet.dts != AV_NOPTS_VALUE ? packet.dts : m_fed.back() + packet.duration);
    if (m_fed.size() > kHeldBack) m_fed.pop_front();
  }
  // AV_NOPTS_VALUE where nothing says it.
  std::int64_t of(const AVFrame& frame, const AVCodecContext& codec) {
    if (!m_byOrder) return frame.best_effort_timestamp;
    const auto cameWith = std::ranges::find(m_fed, frame.pkt_dts);
    // A frame that comes out at the end came with no packet: it has the time behind the last one's.
    const auto own = cameWith == m_fed.end() ? std::ranges::upper_bound(m_fed, m_last)
                                             : cameWith - std::min<std::ptrdiff_t>(codec.has_b_frames, cameWith - m_fed.begin());
    return own == m_fed.end() ? AV_NOPTS_VALUE : m_last = *own;
  }

 private:
  static constexpr std::size_t kHeldBack = 64;  // more pictures than any decoder holds back

  const bool m_byOrder;
  std::deque<std::int64_t> m_fed;
  std::int64_t m_last = AV_NOPTS_VALUE;
};

// The moment at which a player's clock shows 0 while it plays a video: at the beginning of the file, which sound may have before pictures.
//
// A recording may begin at any hour of its own clock; priming samples of sound before the container's 0 are not played. Pure.

// In ticks of `video`, not after its first picture; 0 where nothing says when it begins. Covers and subtitles do not count.
std::int64_t timeOrigin(const AVFormatContext& format, const AVStream& video);

}  // namespace winnow::app
