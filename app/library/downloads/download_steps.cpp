#include "app/library/downloads/download_steps.h"

#include <utility>

#include "engine/base/error.h"

namespace winnow::app {
namespace {

constexpr qint64 kTellMs = 100;

}  // namespace

DownloadSteps::DownloadSteps(QString subject, QString folder, InterruptToken interrupt)
    : m_subject(std::move(subject)), m_folder(std::move(folder)), m_interrupt(std::move(interrupt)) {}

void DownloadSteps::begin() {
  run([this] { prepare(); });
}

void DownloadSteps::abort() { fail({DownloadProblem::kCancelled, m_subject, QStringLiteral("it was cancelled")}); }

void DownloadSteps::run(const std::function<void()>& step) {
  if (m_ended) return;
  try {
    m_interrupt.throw_if_requested();
    step();
  } catch (const DownloadError& error) {
    fail(error.fault());
  } catch (const Interrupted&) {
    abort();
  } catch (...) {
    fail({DownloadProblem::kUnwritable, m_folder, QString::fromStdString(current_error().reason)});
  }
}

void DownloadSteps::tell(DownloadStage stage, qint64 done, qint64 total) {
  if (m_told.isValid() && stage == m_toldStage && done != total && m_told.elapsed() < kTellMs) return;
  m_toldStage = stage;
  m_told.start();
  Q_EMIT progressed({stage, done, total});
}

void DownloadSteps::finish(const QString& file) {
  m_ended = true;
  giveUp();
  Q_EMIT finished(file);
}

void DownloadSteps::fail(const DownloadFault& fault) {
  if (m_ended) return;
  m_ended = true;
  giveUp();
  Q_EMIT failed(fault);
}

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
