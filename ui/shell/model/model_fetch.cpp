#include "ui/shell/model/model_fetch.h"

#include <optional>
#include <utility>

#include "app/words/download_words.h"
#include "ui/shell/ground/notice_bar.h"
#include "ui/shell/model/model_menu.h"
#include "ui/shell/model/model_offer_box.h"
#include "ui/shell/model/model_session.h"

namespace winnow::ui {

ModelFetch::ModelFetch(OfferedModel offer, const Views& views, ModelSession& model, std::function<bool()> answering,
                       app::DownloadQueue& queue)
    : m_offer(std::move(offer)), m_views(views), m_model(model), m_answering(std::move(answering)), m_queue(queue), m_file(m_offer.file()) {
  connect(&m_views.box, &ModelOfferBox::accepted, this, &ModelFetch::accept);
  connect(&m_views.box, &ModelOfferBox::cancelled, this, &ModelFetch::cancel);
  if (m_views.menu != nullptr) connect(m_views.menu, &ModelMenu::offerTaken, this, [this] { isOnItsWay() ? cancel() : accept(); });
  connect(&m_queue, &app::DownloadQueue::changed, this, &ModelFetch::onChanged);
  connect(&m_queue, &app::DownloadQueue::finished, this, &ModelFetch::onFinished);
  connect(&m_queue, &app::DownloadQueue::failed, this, &ModelFetch::onFailed);
  showOffer();
}

bool ModelFetch::isOnItsWay() const {
  const std::optional<app::QueuedDownload> download = m_queue.find(m_offer.key);
  return download && download->onItsWay();
}

void ModelFetch::accept() {
  if (isOnItsWay()) return;
  // It may have been removed since.
  if (!m_file.isEmpty()) m_file = m_offer.file();
  if (!m_file.isEmpty()) return open(m_file);
  m_views.notice.dismiss();
  m_opens = true;
  m_queue.add(m_offer.key, m_offer.name, m_offer.make);
}

void ModelFetch::cancel() {
  m_opens = false;
  if (const std::optional<app::QueuedDownload> download = m_queue.find(m_offer.key)) m_come = app::comeWords(*download);
  m_queue.remove(m_offer.key);
}

void ModelFetch::showOffer() {
  if (!m_file.isEmpty()) {
    m_views.box.showOffer(tr("Open %1").arg(m_offer.name), m_offer.openNote);
    if (m_views.menu != nullptr) m_views.menu->setOffer({});
    return;
  }
  // Paused, or cut off when the program ended: then nobody has counted yet what had come.
  const std::optional<app::QueuedDownload> download = m_queue.find(m_offer.key);
  const bool begun = download && download->state == app::QueuedDownload::State::kPaused;
  const QString get = begun ? tr("Continue downloading %1").arg(m_offer.name) : m_offer.get;
  const QString come = begun && m_come.isEmpty() ? tr("Its download continues where it stopped.") : m_come;
  m_views.box.showOffer(get, come.isEmpty() ? m_offer.note : m_offer.note + QLatin1Char(' ') + come);
  if (m_views.menu != nullptr) m_views.menu->setOffer(get);
}

void ModelFetch::onChanged(const QString& key) {
  if (key != m_offer.key) return;
  const std::optional<app::QueuedDownload> download = m_queue.find(key);
  if (download && download->state == app::QueuedDownload::State::kHere) return;  // finished() says more
  if (download) m_come = app::comeWords(*download);
  if (!download || !download->onItsWay()) return showOffer();
  if (m_views.menu != nullptr) m_views.menu->setOffer(tr("Stop downloading %1").arg(m_offer.name));
  m_views.box.showProgress(app::downloadWords(*download), app::downloadPercent(*download));
}

void ModelFetch::onFinished(const QString& key, const QString& file) {
  if (key != m_offer.key) return;
  m_file = file;
  m_come.clear();
  showOffer();
  if (std::exchange(m_opens, false) && !m_answering()) return open(file);
  m_views.notice.present({.text = tr("%1 is ready.").arg(m_offer.name), .actions = {{tr("Open it"), [this, file] { open(file); }}}});
}

void ModelFetch::onFailed(const QString& key, const app::DownloadFault& fault) {
  if (key != m_offer.key || fault.problem == app::DownloadProblem::kCancelled) return;
  const app::ErrorText text = app::describeDownloadFault(fault, m_offer.name);
  m_views.box.showFault(text);
  if (m_views.box.isVisible()) return;
  Notice notice = noticeOf(text);
  notice.actions.push_back({tr("Try again"), [this] { accept(); }});
  m_views.notice.present(notice);
}

void ModelFetch::open(const QString& file) {
  m_model.load(file);
  Q_EMIT opened();
}

}  // namespace winnow::ui
