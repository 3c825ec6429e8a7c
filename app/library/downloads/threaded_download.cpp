#include "app/library/downloads/threaded_download.h"

#include "app/library/downloads/download_steps.h"

namespace winnow::app {

ThreadedDownload::ThreadedDownload(const std::function<DownloadSteps*(const InterruptToken&)>& make) : m_steps(make(m_interrupt.token())) {
  m_steps->moveToThread(&m_thread);
  connect(&m_thread, &QThread::finished, m_steps, &QObject::deleteLater);
  connect(m_steps, &DownloadSteps::progressed, this, &ModelDownload::progressed);
  connect(m_steps, &DownloadSteps::finished, this, &ModelDownload::finished);
  connect(m_steps, &DownloadSteps::failed, this, &ModelDownload::failed);
  connect(m_steps, &DownloadSteps::chosen, this, &ModelDownload::chosen);
  m_thread.setObjectName(QStringLiteral("downloads"));
  m_thread.start();
}

ThreadedDownload::~ThreadedDownload() {
  m_interrupt.request_cancel();
  m_thread.quit();
  m_thread.wait();
}

void ThreadedDownload::start() { QMetaObject::invokeMethod(m_steps, &DownloadSteps::begin, Qt::QueuedConnection); }

void ThreadedDownload::cancel() {
  m_interrupt.request_cancel();
  QMetaObject::invokeMethod(m_steps, &DownloadSteps::abort, Qt::QueuedConnection);
}

}  // namespace winnow::app
