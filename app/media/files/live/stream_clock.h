// Puts the time stamps of a running stream on one line that starts at 0 and only rises.
//
// Used by LiveDecoder. Stamps may be missing, jump back (a sender that was restarted, recordings put one after the other) or jump ahead
// (a cut): then time goes on by one frame from where it was. A gap of up to kCutS is believed. Seconds. Pure.
#pragma once

#include <cstdint>
#include <optional>

namespace winnow::app {

class StreamClock {
 public:
  static constexpr double kCutS = 10.0;

  // frameS: how long a frame lasts where the stream does not say, positive.
  explicit StreamClock(double frameS) : m_frameS(frameS) {}

  // The stamp that stands for 0; without it the first one does.
  void beginAt(double stampS) { m_offsetS = -stampS; }

  // stampS: the next frame's own time on any scale. durationS: how long it says it lasts; not positive: not said. Time on the line; rises
  // strictly.
  double place(std::optional<double> stampS, double durationS);

  // Times that stamps jumped.
  std::int64_t jumps() const { return m_jumps; }
  // How long a frame lasts, as seen last.
  double frameS() const { return m_frameS; }

 private:
  double m_frameS;
  std::optional<double> m_lastS;
  std::optional<double> m_offsetS;  // time = stamp + offset; nullopt before the first stamp
  std::int64_t m_jumps = 0;
};

}  // namespace winnow::app
