// Runs the engine on its own thread and brings its events to the UI thread.
//
// Used by ui. post() queues a request and returns its id at once; requests begin in the order posted, one after another or beside those
// that run (engine/api/waiting.h), and their events go to the one who asked, as long as it lives. Every request ends with exactly one event
// of those that ends_request() knows (ForgetConversation ends silently), also when the engine throws (Failed), ends without an outcome
// (Failed, kInternal) or the request was interrupted while it still waited (Finished, kInterrupted, restored). Text deltas are gathered and
// progress is thinned to at most 30 updates a second (EventGatherer). No more than 4 MiB of events wait for this thread: then the engine
// does, until it is interrupted.
//
// Threads: EngineHost belongs to the thread that made it (an event loop must run there); the engine is made, used and destroyed on the
// engine thread only. The destructor cancels everything, waits for the engine thread and delivers nothing more.
// Errors: none thrown; a factory that throws is tried again at each request, which fails with its error.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QPointer>
#include <QTimer>
#include <deque>
#include <functional>
#include <map>
#include <memory>

#include "engine/api/engine.h"

namespace winnow::app {

class Mailbox;

class EngineHost : public QObject {
  Q_OBJECT

 public:
  // Called on the engine thread at once, so that what an engine has to load comes in while the window opens.
  using EngineFactory = std::function<std::unique_ptr<winnow::Engine>()>;

  explicit EngineHost(EngineFactory factory, QObject* parent = nullptr);
  ~EngineHost() override;

  // Called for each event of the request, in their order and on this object's thread, unless `receiver` is gone by then.
  using Listener = std::function<void(const winnow::Event&)>;
  RequestId post(RequestBody body, QObject* receiver, Listener listener);
  RequestId post(RequestBody body);  // nobody waits for what comes of it
  void stop(RequestId id);           // keeps the partial answer; unknown or finished ids are ignored
  void cancel(RequestId id);         // as if never asked
  bool isBusy() const { return m_unfinished > 0; }
  int unfinished() const { return m_unfinished; }

 Q_SIGNALS:
  void busyChanged(bool busy);
  void cacheSetAside(const winnow::Error& why, winnow::ConversationId conversation);  // of any request: CacheSetAside

 private:
  class Worker;
  struct Asker {
    QPointer<QObject> receiver;
    Listener listener;
  };
  void schedule();
  void deliver();

  int m_unfinished = 0;
  RequestId m_lastId = 0;
  QTimer m_paceTimer;
  QElapsedTimer m_sinceDelivery;
  std::deque<Event> m_ready;  // taken from the worker, not yet delivered
  std::map<RequestId, Asker> m_askers;
  std::unique_ptr<Mailbox> m_mailbox;
  std::unique_ptr<Worker> m_worker;  // last: joined first
};

}  // namespace winnow::app
