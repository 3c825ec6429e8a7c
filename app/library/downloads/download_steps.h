// A download as steps, one after the other, on a thread of their own: where errors and interrupts end it, and how it tells how far it is.
// The steps themselves are in package_download.h and app/library/hub/hub_fetch.h.
//
// Errors: failed(), once. Threads: one, with an event loop; checking occupies it for seconds, and looks at the interrupt.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QThread>
#include <functional>

#include "app/library/downloads/model_download.h"
#include "engine/base/interrupt.h"

namespace winnow::app {

class DownloadSteps : public QObject {
  Q_OBJECT
 public:
  // `subject`: what is fetched; `folder`: where to, for faults.
  DownloadSteps(QString subject, QString folder, InterruptToken interrupt);

  void begin();
  void abort();  // after the interrupt was raised: ends what is waited for

 Q_SIGNALS:
  void progressed(const winnow::app::DownloadProgress& progress);
  void finished(const QString& file);
  void failed(const winnow::app::DownloadFault& fault);
  void chosen(const winnow::app::DownloadChoice& choice);

 protected:
  virtual void prepare() = 0;
  // Lets go of what is open, so that whoever tries again finds it free.
  virtual void giveUp() = 0;

  // Every step of the event loop goes through here: one place where errors end the download.
  void run(const std::function<void()>& step);
  void tell(DownloadStage stage, qint64 done, qint64 total);
  void finish(const QString& file);
  void fail(const DownloadFault& fault);
  const InterruptToken& interrupt() const { return m_interrupt; }

 private:
  const QString m_subject;
  const QString m_folder;
  const InterruptToken m_interrupt;
  bool m_ended = false;  // finished or failed
  DownloadStage m_toldStage = DownloadStage::kConnecting;
  QElapsedTimer m_told;
};

// A download whose steps are done on a thread of its own.
//
// Base of PackageDownload and HubDownload. Nothing asks the network before start(). Errors: failed().
class ThreadedDownload : public ModelDownload {
  Q_OBJECT
 public:
  ~ThreadedDownload() override;

  void start() override;
  void cancel() override;

 protected:
  // `make`: its steps, which the thread owns.
  explicit ThreadedDownload(const std::function<DownloadSteps*(const InterruptToken&)>& make);

 private:
  InterruptSource m_interrupt;
  QThread m_thread;
  DownloadSteps* m_steps;  // on the thread, which deletes it
};

}  // namespace winnow::app
