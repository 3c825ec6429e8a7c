// A download whose steps are done on a thread of its own.
//
// Base of PackageDownload and HubDownload. Nothing asks the network before start(). Errors: failed(). Threads: its owner's, with an event
// loop; destroying it waits for the step that is being done (milliseconds).
#pragma once

#include <QThread>
#include <functional>

#include "app/library/downloads/model_download.h"
#include "engine/base/interrupt.h"

namespace winnow::app {

class DownloadSteps;

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
