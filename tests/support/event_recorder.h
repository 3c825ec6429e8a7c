// Keeps every event of an engine's requests; a hook may react to one (interrupt in a phase, count).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/api/engine.h"

namespace winnow::testing {

class EventRecorder : public EventSink {
 public:
  void on_event(Event event) override {
    if (hook) hook(event);
    events.push_back(std::move(event));
  }

  template <typename Body>
  std::vector<Body> all() const {
    std::vector<Body> found;
    for (const Event& event : events) {
      if (const Body* body = std::get_if<Body>(&event.body)) found.push_back(*body);
    }
    return found;
  }
  template <typename Body>
  std::optional<Body> last() const {
    const std::vector<Body> found = all<Body>();
    return found.empty() ? std::nullopt : std::optional<Body>(found.back());
  }
  std::string streamed() const {
    std::string text;
    for (const TextDelta& delta : all<TextDelta>()) text += delta.text;
    return text;
  }

  std::vector<Event> events;
  std::function<void(const Event&)> hook;
};

}  // namespace winnow::testing
