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

}  // namespace winnow::app
