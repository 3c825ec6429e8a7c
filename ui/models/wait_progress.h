// How far the reading of attached media is, over all of its phases, and how long it still takes.
//
// Fed by ui/shell/preparation_controller. The engine tells each phase from its own beginning; here they are parts of one way, so that what
// is shown never falls, until the engine starts again and the way begins anew. The rest is foreseen by the pace so far. UI thread only.
#pragma once

#include <chrono>
#include <optional>

#include "engine/messages/events.h"

namespace winnow::ui {

class WaitProgress {
 public:
  using Clock = std::chrono::steady_clock;

  // The parts of the way: pictures to decode and encode; reading and compressing what is attached.
  struct Parts {
    bool pictures = true;
    bool reading = true;
  };
  void begin(Parts parts, Clock::time_point now = Clock::now());
  void take(const Progress& progress, Clock::time_point now = Clock::now());
  bool startsAgain() const { return m_startsAgain; }  // an engine that had ended: nothing is read yet
  double share() const { return m_share; }            // 0..1, rising
  // Nothing: too early to tell.
  std::optional<double> leftMs(Clock::time_point now = Clock::now()) const;

 private:
  Parts m_parts;
  Clock::time_point m_begun{};
  double m_share = 0.0;
  bool m_startsAgain = false;
};

}  // namespace winnow::ui
