// Does a job on a thread of Qt's pool, then tells what it gave on the application's thread, if whoever asked still lives.
//
// For short looks at the disk or at the kernel that a window must not wait for. A job that throws ends the program. Threads: called on the
// application's thread, which the receiver belongs to.
#pragma once

#include <QCoreApplication>
#include <QPointer>
#include <QThreadPool>
#include <utility>

namespace winnow::app {

// job() is const and copyable, and gives a value; take(value).
template <typename Job, typename Take>
void inBackground(QObject* receiver, Job job, Take take) {
  QThreadPool::globalInstance()->start([receiver = QPointer<QObject>(receiver), job = std::move(job), take = std::move(take)] {
    auto result = job();
    QMetaObject::invokeMethod(QCoreApplication::instance(), [receiver, result = std::move(result), take] {
      if (receiver) take(result);
    });
  });
}

}  // namespace winnow::app
