#include "app/media/files/live/stream_clock.h"

#include <cmath>

namespace winnow::app {

double StreamClock::place(std::optional<double> stampS, double durationS) {
  if (stampS && !std::isfinite(*stampS)) stampS.reset();
  const double lastS = m_lastS.value_or(0.0);
  double timeS = m_lastS ? lastS + m_frameS : 0.0;
  if (stampS) {
    if (!m_offsetS) m_offsetS = timeS - *stampS;
    const double believedS = *stampS + *m_offsetS;
    const bool rises = m_lastS ? believedS > lastS : believedS >= 0.0;
    if (rises && believedS <= lastS + kCutS) {
      if (m_lastS) m_frameS = believedS - lastS;
      timeS = believedS;
    } else {
      m_offsetS = timeS - *stampS;
      if (m_lastS) ++m_jumps;
    }
  }
  if (durationS > 0.0 && durationS <= 1.0) m_frameS = durationS;
  m_lastS = timeS;
  return timeS;
}

}  // namespace winnow::app
