// Thins a stream of engine events without losing what they say: used by EngineHost between the engine thread and the UI thread.
//
// Text deltas of one request and kind (of one column, if it is a comparison) are joined, progress of one phase and decode samples are
// replaced by the newest; everything else passes as it is, and nothing is moved past it. What waits is therefore bounded by the text plus
// the few events that a request has once. Threads: none of its own; the caller serialises.
#pragma once

#include <vector>

#include "engine/messages/events.h"

namespace winnow::app {

class EventGatherer {
 public:
  void push(Event event);
  std::vector<Event> take();  // in order; leaves it empty
  bool empty() const { return m_events.empty(); }
  // An event that a person waits for is inside: deliver now, not at the next tick.
  bool urgent() const { return m_urgent; }

 private:
  bool merge(Event& event);

  std::vector<Event> m_events;
  bool m_urgent = false;
};

}  // namespace winnow::app
