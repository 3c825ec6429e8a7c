#include "app/programs/server/answer_line.h"

#include <algorithm>
#include <utility>

#include "engine/messages/interrupted.h"

namespace winnow::app {

AnswerLine::AnswerLine(EngineHost& engine, std::size_t mostInLine, QObject* parent)
    : QObject(parent), m_engine(engine), m_mostInLine(mostInLine) {
  connect(&m_engine, &EngineHost::busyChanged, this, [this](bool busy) {
    if (!busy) nextLater();
  });
}

AnswerLine::~AnswerLine() {
  if (m_running) m_engine.cancel(m_request);
}

bool AnswerLine::enter() {
  if (m_inLine.fetch_add(1) < m_mostInLine) return true;
  --m_inLine;
  return false;
}

void AnswerLine::push(Place request) {
  m_line.push_back(std::move(request));
  Q_EMIT changed();
  next();
}

void AnswerLine::gone(const Place& request) {
  if (m_running == request) return m_engine.cancel(m_request);
  if (std::erase(m_line, request) == 0) return;
  --m_inLine;
  Q_EMIT changed();
}

void AnswerLine::stop(const LineRequest* request) {
  if (m_running.get() == request) return m_engine.stop(m_request);
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
  if (m_running) m_engine.cancel(m_request);
  Q_EMIT changed();
}

// A question of the window at the same moment goes first.
void AnswerLine::nextLater() { QMetaObject::invokeMethod(this, &AnswerLine::next, Qt::QueuedConnection); }

void AnswerLine::next() {
  if (m_running || m_line.empty() || m_engine.isBusy()) return;
  m_running = std::move(m_line.front());
  m_line.pop_front();
  m_request = m_engine.post(m_running->begin(), this, [this, place = m_running](const Event& event) { hear(place, event); });
  Q_EMIT changed();
}

void AnswerLine::hear(const Place& request, const Event& event) {
  request->hear(event);
  if (!ends_request(event)) return;
  m_running.reset();
  --m_inLine;
  ++m_answered;
  Q_EMIT changed();
  nextLater();
}

}  // namespace winnow::app
