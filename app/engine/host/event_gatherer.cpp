#include "app/engine/host/event_gatherer.h"

#include <utility>

namespace winnow::app {

namespace {

bool mergeable(const EventBody& body) {
  return std::holds_alternative<TextDelta>(body) || std::holds_alternative<Progress>(body) || std::holds_alternative<DecodeSample>(body);
}

std::size_t bytesOf(const Event& event) {
  std::size_t bytes = sizeof event;
  if (const auto* text = std::get_if<TextDelta>(&event.body)) bytes += text->text.size();
  if (const auto* report = std::get_if<CacheReport>(&event.body)) {
    for (const auto* map : {&report->kept, &report->merged}) {
      for (const auto& layer : *map) {
        for (const auto& head : layer) bytes += head.size() * sizeof head.front();
      }
    }
  }
  return bytes;
}

}  // namespace

bool EventGatherer::merge(Event& event) {
  if (!mergeable(event.body)) return false;
  for (auto it = m_events.rbegin(); it != m_events.rend(); ++it) {
    if (it->id != event.id || it->column != event.column || !mergeable(it->body)) return false;
    if (it->body.index() != event.body.index()) continue;
    if (auto* text = std::get_if<TextDelta>(&it->body)) {
      if (text->kind != std::get<TextDelta>(event.body).kind) return false;
      text->text += std::get<TextDelta>(event.body).text;
      m_bytes += std::get<TextDelta>(event.body).text.size();
      return true;
    }
    if (auto* progress = std::get_if<Progress>(&it->body)) {
      if (progress->phase != std::get<Progress>(event.body).phase) return false;
    }
    it->body = std::move(event.body);
    return true;
  }
  return false;
}

void EventGatherer::push(Event event) {
  if (merge(event)) return;
  m_urgent = m_urgent || ends_request(event);
  m_bytes += bytesOf(event);
  m_events.push_back(std::move(event));
}

std::vector<Event> EventGatherer::take() {
  m_urgent = false;
  m_bytes = 0;
  return std::exchange(m_events, {});
}

}  // namespace winnow::app
