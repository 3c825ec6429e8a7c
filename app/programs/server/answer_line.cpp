#include "app/programs/server/answer_line.h"

#include <algorithm>
#include <utility>

#include "engine/messages/interrupted.h"

namespace winnow::app {

AnswerLine::AnswerLine(EngineHost& engine, std::size_t mostInLine, std::size_t atOnce, QObject* parent)
    : QObject(parent), m_engine(engine), m_mostInLine(mostInLine), m_atOnce(atOnce) {
  connect(&m_engine, &EngineHost::busyChanged, this, [this](bool busy) {
    if (!busy) nextLater();
  });
}

AnswerLine::~AnswerLine() {
  for (const Running& running : m_running) m_engine.cancel(running.id);
}

bool AnswerLine::enter() {
  if (m_inLine.fetch_add(1) < m_mostInLine) return true;
  --m_inLine;
  return false;
}

void AnswerLine::push(Place request) {
  m_line.push_back(std::move(request));
  Q_EMIT changed();
  while (next()) {
  }
}

void AnswerLine::gone(const Place& request) {
  if (const auto id = runningAs(request.get())) return m_engine.cancel(*id);
  if (std::erase(m_line, request) == 0) return;
  --m_inLine;
  Q_EMIT changed();
}

void AnswerLine::stop(const LineRequest* request) {
  if (const auto id = runningAs(request)) return m_engine.stop(*id);
  const auto found = std::ranges::find(m_line, request, [](const Place& place) { return place.get(); });
  if (found == m_line.end()) return;
  const Place place = *found;
  m_line.erase(found);
  --m_inLine;
  place->hear({0, interrupted_and_restored()});
  Q_EMIT changed();
}

void AnswerLine::clear(const ApiRefusal& why) {
  for (const Place& place : std::exchange(m_line, {})) {
    place->turnAway(why);
    --m_inLine;
  }
  for (const Running& running : m_running) m_engine.cancel(running.id);
  Q_EMIT changed();
}

// A question of the window at the same moment goes first.
void AnswerLine::nextLater() {
  QMetaObject::invokeMethod(
      this,
      [this] {
        while (next()) {
        }
      },
      Qt::QueuedConnection);
}

// True: one more runs.
bool AnswerLine::next() {
  const bool others = m_engine.unfinished() > static_cast<int>(m_running.size());
  if (m_running.size() >= m_atOnce || others) return false;
  const auto first = std::ranges::find_if(m_line, &LineRequest::mayBegin);
  if (first == m_line.end()) return false;
  const Place place = *first;
  m_line.erase(first);
  const RequestId id = m_engine.post(place->begin(), this, [this, place](const Event& event) { hear(place, event); });
  m_running.push_back({place, id});
  Q_EMIT changed();
  return true;
}

std::optional<RequestId> AnswerLine::runningAs(const LineRequest* request) const {
  const auto found = std::ranges::find_if(m_running, [&](const Running& running) { return running.place.get() == request; });
  return found == m_running.end() ? std::nullopt : std::optional(found->id);
}

void AnswerLine::hear(const Place& request, const Event& event) {
  request->hear(event);
  if (!ends_request(event)) return;
  std::erase_if(m_running, [&](const Running& running) { return running.place == request; });
  --m_inLine;
  ++m_answered;
  Q_EMIT changed();
  nextLater();
}

}  // namespace winnow::app
