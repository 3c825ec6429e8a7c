// Thins a stream of engine events without losing what they say: used by EngineHost between the engine thread and the UI thread.
//
// Text deltas of one request and kind (of one column, if it is a comparison) are joined, progress of one phase and decode samples are
// replaced by the newest; everything else passes as it is, and nothing is moved past it. It counts what waits, and its owner holds the
// engine back. Threads: none of its own; the caller serialises.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/messages/events.h"

namespace winnow::app {

class EventGatherer {
 public:
  void push(Event event);
  std::vector<Event> take();  // in order; leaves it empty
  bool empty() const { return m_events.empty(); }
  std::size_t bytes() const { return m_bytes; }  // of what is inside: texts and kept maps, and something for every event
  // An event that a person waits for is inside: deliver now, not at the next tick.
  bool urgent() const { return m_urgent; }

 private:
  bool merge(Event& event);

  std::vector<Event> m_events;
  std::size_t m_bytes = 0;
  bool m_urgent = false;
};

}  // namespace winnow::app
