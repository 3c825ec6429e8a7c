// Runs the event loop until something is true; for tests of objects that answer by signals. UI thread.
#pragma once

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QEvent>
#include <chrono>
#include <thread>

namespace winnow::test {

inline constexpr int kPatienceMs = 20'000;  // sanitizers on a busy machine

template <typename Condition>
bool waitUntil(Condition condition) {
  QElapsedTimer elapsed;
  elapsed.start();
  while (!condition()) {
    if (elapsed.elapsed() > kPatienceMs) return false;
    QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);  // as a running event loop does
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace winnow::test
