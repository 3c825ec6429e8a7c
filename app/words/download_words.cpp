#include "app/words/download_words.h"

#include <QCoreApplication>

#include "app/words/display_text.h"
#include "app/words/format_text.h"

namespace winnow::app {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("winnow::app::DownloadWords", text); }

QString perSecond(qint64 bytes) {
  constexpr qint64 kMegabyte = 1'000'000;
  constexpr qint64 kKilobyte = 1000;
  return bytes < kMegabyte ? tr("%1 kB").arg(formatCount(static_cast<double>(bytes / kKilobyte))) : formatMegabytes(bytes);
}

QString speedWords(const QueuedDownload& download) {
  if (!download.secondsLeft) return {};
  return tr(", %1 a second, %2 left")
      .arg(perSecond(download.bytesPerSecond), formatSeconds(static_cast<double>(*download.secondsLeft) * 1000));
}

QString runningWords(const QueuedDownload& download) {
  const DownloadProgress& progress = download.progress;
  const QString name = displayText(download.name);
  const QString part = tr("%1 of %2").arg(formatMegabytes(progress.done), formatMegabytes(progress.total));
  switch (progress.stage) {
    case DownloadStage::kConnecting:
      return tr("Contacting the server for %1…").arg(name);
    case DownloadStage::kDownloading:
      return tr("Downloading %1: %2").arg(name, part) + speedWords(download);
    case DownloadStage::kChecking:
      return tr("Checking %1: %2").arg(name, part);
    case DownloadStage::kUnpacking:
      return tr("Unpacking %1: %2").arg(name, part);
    case DownloadStage::kWaiting:
      return tr("The server asks to wait %1 before %2 goes on…").arg(formatSeconds(static_cast<double>(progress.total) * 1000), name);
  }
  return {};
}

}  // namespace

QString downloadWords(const QueuedDownload& download) {
  using State = QueuedDownload::State;
  switch (download.state) {
    case State::kRunning:
      return runningWords(download);
    case State::kWaiting:
      return tr("Waiting: two at a time.");
    case State::kPaused:
      return download.come > 0 ? tr("Paused.") + QLatin1Char(' ') + comeWords(download) : tr("Paused.");
    case State::kFailed:
      return {};  // download_fault_text.h
    case State::kHere:
      return tr("It is here, and every file is right.");
  }
  return {};
}

int downloadPercent(const QueuedDownload& download) {
  const DownloadProgress& progress = download.progress;
  if (download.state == QueuedDownload::State::kRunning && progress.total > 0)
    return static_cast<int>(100 * progress.done / progress.total);
  return download.onItsWay() || download.toCome <= 0 ? -1 : static_cast<int>(100 * download.come / download.toCome);
}

QString comeWords(const QueuedDownload& download) {
  if (download.come <= 0) return {};
  return tr("%1 of %2 already downloaded.").arg(formatMegabytes(download.come), formatMegabytes(download.toCome));
}

}  // namespace winnow::app
