// Writes down the cache's bytes while an answer comes, from the engine's own events and a clock.
//
// Owned by CacheMonitor. What a still image holds of the visual slots is known from the first sample of the answer on; earlier points are
// completed then. UI thread only.
#pragma once

#include <chrono>
#include <optional>

#include "app/chats/chat/turn_timeline.h"
#include "engine/messages/events.h"

namespace winnow::ui {

class TimelineRecorder {
 public:
  // asked: when the question was, from which its milliseconds count.
  void begin(std::chrono::steady_clock::time_point asked = std::chrono::steady_clock::now());
  void take(const EventBody& event);
  const app::TurnTimeline& timeline() const { return m_timeline; }

 private:
  void addReport(const CacheReport& report);
  void addSample(const DecodeSample& sample);
  double now() const { return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - *m_asked).count(); }

  std::optional<std::chrono::steady_clock::time_point> m_asked;  // nothing: no question yet
  app::TurnTimeline m_timeline;
  double m_prefillEndMs = -1.0;  // negative: not seen
  double m_retained = 0.0;       // slots that are not the answer's, at the event
  bool m_imagesKnown = false;
  bool m_evicted = false;
};

}  // namespace winnow::ui
