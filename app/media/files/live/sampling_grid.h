// Which frames of a running video are taken: frame i is the one on screen at i * everyS seconds.
//
// Used by LiveSource. Pure.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace winnow::app {

class SamplingGrid {
 public:
  explicit SamplingGrid(double everyS) : m_everyS(everyS) {}

  double nextS() const { return static_cast<double>(m_next) * m_everyS; }
  // True if a frame that is on screen until endS, where the one after it begins, is the one of the next time. A microsecond is allowed for
  // times that were rounded.
  bool isDueBefore(double endS) const { return nextS() < endS - 1e-6; }
  void advance() { ++m_next; }
  // The first frame begins at startS: it stands for no time of the grid before that but the last.
  void skipTo(double startS) { m_next = std::max(m_next, static_cast<std::int64_t>(std::floor(startS / m_everyS + 1e-6))); }

 private:
  const double m_everyS;
  std::int64_t m_next = 0;
};

}  // namespace winnow::app
