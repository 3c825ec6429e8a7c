#include "app/media/files/clock_stretches.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace winnow::app {
namespace {

constexpr double kUnsteadyS = 1.0;  // that stamps may step back without a new beginning: pictures that are shown out of their order

}  // namespace

void ClockStretches::add(const AVPacket& packet) {
  const std::int64_t stamp = packet.dts != AV_NOPTS_VALUE ? packet.dts : packet.pts;
  if (packet.pos >= 0) m_lastPosition = packet.pos;
  if (stamp == AV_NOPTS_VALUE) return;
  const double stampS = static_cast<double>(stamp) * m_tickS;
  const bool unsteady = m_firstStamp && stamp <= m_lastStamp && static_cast<double>(m_lastStamp - stamp) * m_tickS < kUnsteadyS;
  if (!unsteady) {
    if (!m_firstStamp) m_firstStamp = stamp;
    m_lastStamp = stamp;
    const std::int64_t jumps = m_clock.jumps();
    const double timeS = m_clock.place(stampS, static_cast<double>(packet.duration) * m_tickS);
    if (m_clock.jumps() != jumps) {
      const double line = timeS / m_tickS + static_cast<double>(*m_firstStamp);
      m_stretches.push_back({m_lastPosition, std::llround(line) - stamp});
    }
  }
  if ((packet.flags & AV_PKT_FLAG_KEY) == 0 || packet.pos < 0) return;
  m_keyframes.push_back({(packet.pts != AV_NOPTS_VALUE ? packet.pts : stamp) + shift(), packet.pos});
}

std::int64_t ClockStretches::shiftAt(std::int64_t position) const {
  const auto after = std::ranges::upper_bound(m_stretches, position, {}, &Stretch::position);
  return after == m_stretches.begin() ? 0 : std::prev(after)->shift;
}

std::int64_t ClockStretches::keyframeBefore(std::int64_t ticks) const {
  const auto after = std::ranges::upper_bound(m_keyframes, ticks, {}, &Keyframe::ticks);
  return after == m_keyframes.begin() ? -1 : std::prev(after)->position;
}

}  // namespace winnow::app
