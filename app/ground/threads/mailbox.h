// Brings closures from a worker thread to the thread that owns the mailbox, in order.
//
// Owned beside a worker thread that works for the window. The closures travel under our own mutex; Qt's events only wake the loop.
// The owner joins its worker before the mailbox dies; closures that were not run by then are dropped.
// Threads: post() from any; the closures run on the thread that made the mailbox.
#pragma once

#include <QCoreApplication>
#include <QEvent>
#include <QObject>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace winnow::app {

class Mailbox final : public QObject {
 public:
  using Letter = std::function<void()>;

  void post(Letter letter) {
    auto wake = std::make_unique<QEvent>(QEvent::User);  // before the lock: it orders the event's making before its reading
    bool first = false;
    {
      const std::lock_guard lock(m_mutex);
      first = m_letters.empty();
      m_letters.push_back(std::move(letter));
    }
    if (first) QCoreApplication::postEvent(this, wake.release());
  }

  // One closure per turn of the event loop: order holds even when one of them runs a nested loop or destroys the mailbox.
  bool event(QEvent* event) override {
    Letter letter;
    bool more = false;
    {
      const std::lock_guard lock(m_mutex);
      if (event->type() == QEvent::User && !m_letters.empty()) {
        letter = std::move(m_letters.front());
        m_letters.pop_front();
        more = !m_letters.empty();
      }
    }
    if (!letter) return QObject::event(event);
    if (more) QCoreApplication::postEvent(this, new QEvent(QEvent::User));
    letter();
    return true;
  }

 private:
  std::mutex m_mutex;  // guards m_letters
  std::deque<Letter> m_letters;
};

}  // namespace winnow::app
