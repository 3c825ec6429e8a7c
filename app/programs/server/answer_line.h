// The line in front of an engine that answers a few requests at a time: of all that ask over HTTP, by whichever endpoint.
//
// The next one is posted while fewer than so many run and the engine has nothing else to do, so that whoever shares the engine (the
// window's user) waits for the answers that run and for no others. One that goes on with what an answer is reading waits for that answer,
// and others pass it. An asker that leaves loses its place in the line, or its answer is cancelled.
// Errors: none. Threads: enter(), leave() and inLine() any; the rest is of the EngineHost's thread.
#pragma once

#include <QObject>
#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "app/engine/host/engine_host.h"
#include "app/programs/server/api_refusal.h"

namespace winnow::app {

// One of those in the line, from its turn to its last event.
class LineRequest {
 public:
  virtual ~LineRequest() = default;
  virtual bool mayBegin() const { return true; }  // false: it waits for one that runs
  virtual RequestBody begin() = 0;                // its turn has come
  virtual void hear(const Event& event) = 0;
  virtual void turnAway(const ApiRefusal& refusal) = 0;  // instead of begin()
};

class AnswerLine : public QObject {
  Q_OBJECT

 public:
  using Place = std::shared_ptr<LineRequest>;

  // atOnce: that run.
  AnswerLine(EngineHost& engine, std::size_t mostInLine, std::size_t atOnce, QObject* parent = nullptr);
  ~AnswerLine() override;  // cancels what runs

  // True if there is room; who has entered calls push() or leave().
  bool enter();
  void leave() { --m_inLine; }
  std::size_t inLine() const { return m_inLine; }  // those that are still being read included

  void push(Place request);
  void gone(const Place& request);        // its asker is not there any more
  void stop(const LineRequest* request);  // keeps the answer so far; one that has not begun is cancelled
  // Those in the line are turned away, and those that run are cancelled.
  void clear(const ApiRefusal& why);

  int waiting() const { return static_cast<int>(m_line.size()); }
  int answered() const { return m_answered; }
  bool isAnswering() const { return !m_running.empty(); }

 Q_SIGNALS:
  void changed();  // waiting, answered or isAnswering

 private:
  struct Running {
    Place place;
    RequestId id = 0;
  };
  bool next();
  void nextLater();
  void hear(const Place& request, const Event& event);
  std::optional<RequestId> runningAs(const LineRequest* request) const;  // nothing: it does not run

  EngineHost& m_engine;
  const std::size_t m_mostInLine;
  const std::size_t m_atOnce;
  std::atomic<std::size_t> m_inLine{0};
  std::deque<Place> m_line;
  std::vector<Running> m_running;
  int m_answered = 0;
};

}  // namespace winnow::app
