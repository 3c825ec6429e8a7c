#include "ui/shell/model_fetch.h"

#include <utility>

#include "ui/shell/chat_session.h"
#include "ui/shell/model_menu.h"
#include "ui/shell/model_offer_box.h"
#include "ui/shell/notice_bar.h"
#include "ui/words/download_fault_text.h"
#include "ui/words/format_text.h"

namespace winnow::ui {

ModelFetch::ModelFetch(OfferedModel offer, const Views& views, ChatSession& session, QObject* parent)
    : QObject(parent),
      m_offer(std::move(offer)),
      m_views(views),
      m_session(session),
      m_file(m_offer.file()),
      m_toCome(m_offer.downloadBytes) {
  m_clock.start();
  connect(&m_views.box, &ModelOfferBox::accepted, this, &ModelFetch::accept);
  connect(&m_views.box, &ModelOfferBox::cancelled, this, &ModelFetch::cancel);
  if (m_views.menu != nullptr) connect(m_views.menu, &ModelMenu::offerTaken, this, [this] { isRunning() ? cancel() : accept(); });
  showOffer();
}

ModelFetch::~ModelFetch() = default;

void ModelFetch::accept() {
  if (isRunning()) return;
  // It may have been removed since.
  if (!m_file.isEmpty()) m_file = m_offer.file();
  m_file.isEmpty() ? start() : open(m_file);
}

void ModelFetch::start() {
  m_views.notice.dismiss();
  m_download = m_offer.make();
  connect(m_download.get(), &app::ModelDownload::progressed, this, &ModelFetch::show);
  connect(m_download.get(), &app::ModelDownload::finished, this, &ModelFetch::onFinished);
  connect(m_download.get(), &app::ModelDownload::failed, this, &ModelFetch::onFailed);
  if (m_views.menu != nullptr) m_views.menu->setOffer(tr("Stop downloading %1").arg(m_offer.name));
  show({});
  m_download->start();
}

void ModelFetch::cancel() {
  if (m_download) m_download->cancel();
}

void ModelFetch::showOffer() {
  if (!m_file.isEmpty()) {
    m_views.box.showOffer(tr("Open %1").arg(m_offer.name), m_offer.openNote);
    if (m_views.menu != nullptr) m_views.menu->setOffer({});
    return;
  }
  QString note = m_offer.note;
  if (m_come > 0) note += QLatin1Char(' ') + tr("%1 of %2 already downloaded.").arg(formatMegabytes(m_come), formatMegabytes(m_toCome));
  m_views.box.showOffer(m_offer.get, note);
  if (m_views.menu != nullptr) m_views.menu->setOffer(m_offer.get);
}

void ModelFetch::show(const app::DownloadProgress& progress) {
  const int percent = progress.total > 0 ? static_cast<int>(100 * progress.done / progress.total) : -1;
  const QString part = tr("%1 of %2").arg(formatMegabytes(progress.done), formatMegabytes(progress.total));
  QString words;
  switch (progress.stage) {
    case app::DownloadStage::kConnecting:
      words = tr("Contacting the server for %1…").arg(m_offer.name);
      break;
    case app::DownloadStage::kDownloading:
      words = tr("Downloading %1: %2").arg(m_offer.name, part) + speedText(progress);
      m_come = progress.done;
      m_toCome = progress.total;
      break;
    case app::DownloadStage::kChecking:
      words = tr("Checking %1…").arg(m_offer.name);
      break;
    case app::DownloadStage::kUnpacking:
      words = tr("Unpacking %1: %2").arg(m_offer.name, part);
      break;
    case app::DownloadStage::kWaiting:
      words = tr("The server asks to wait before %1 goes on…").arg(m_offer.name);
      break;
  }
  m_views.box.showProgress(words, percent);
  m_status = words;
  Q_EMIT statusChanged();
}

QString ModelFetch::speedText(const app::DownloadProgress& progress) {
  m_speed.told(m_clock.elapsed(), progress.done);
  const std::optional<qint64> seconds = m_speed.secondsLeft(progress.total);
  if (!seconds) return {};
  return tr(", %1 a second, %2 left").arg(formatMegabytes(m_speed.bytesPerSecond()), formatSeconds(static_cast<double>(*seconds) * 1000));
}

void ModelFetch::end() {
  m_download.release()->deleteLater();  // it is the one that speaks
  m_status.clear();
  Q_EMIT statusChanged();
}

void ModelFetch::onFinished(const QString& file) {
  end();
  m_file = file;
  m_come = 0;
  showOffer();
  if (!m_session.answers.busy()) return open(file);
  Notice notice;
  notice.text = tr("%1 is ready.").arg(m_offer.name);
  notice.actions.push_back({tr("Open it"), [this, file] { open(file); }});
  m_views.notice.present(notice);
}

void ModelFetch::onFailed(const app::DownloadFault& fault) {
  end();
  showOffer();
  if (fault.problem == app::DownloadProblem::kCancelled) return;
  if (fault.problem == app::DownloadProblem::kHashDiffers) m_come = 0;
  const ErrorText text = describeDownloadFault(fault, m_offer.name);
  m_views.box.showFault(text);
  if (m_views.box.isVisible()) return;
  Notice notice = noticeOf(text);
  notice.actions.push_back({tr("Try again"), [this] { accept(); }});
  m_views.notice.present(notice);
}

void ModelFetch::open(const QString& file) {
  m_session.model.load(file);
  Q_EMIT opened();
}

}  // namespace winnow::ui
