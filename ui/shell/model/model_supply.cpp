#include "ui/shell/model/model_supply.h"

#include <QAction>
#include <QWidget>
#include <algorithm>
#include <optional>

#include "app/engine/remote/server_address.h"
#include "app/library/downloads/model_download.h"
#include "app/library/models/model_shelf.h"
#include "app/words/download_words.h"
#include "ui/model_library/models_dialog.h"
#include "ui/shell/ground/notice_bar.h"
#include "ui/shell/model/model_fetch.h"
#include "ui/shell/model/model_menu.h"
#include "ui/theme/rooms.h"

namespace winnow::ui {

ModelSupply::ModelSupply(const WindowServices& services, const Views& views, ModelSession& model, std::function<bool()> answering,
                         QWidget* window)
    : QObject(window), m_services(services), m_views(views), m_model(model), m_answering(std::move(answering)), m_window(window) {
  connect(&m_queue, &app::DownloadQueue::changed, this, &ModelSupply::statusChanged);
  connect(&m_queue, &app::DownloadQueue::finished, this, &ModelSupply::onFinished);
  connect(&m_queue, &app::DownloadQueue::failed, this, &ModelSupply::onFailed);
  const app::ModelDownloads* packages = m_services.downloads;
  if (packages != nullptr && !packages->offers.empty()) m_text = offer(packageOffer(*packages), m_views.text, &m_views.menu);
  offerSeeing();
  if (m_services.shelf == nullptr || m_services.hub == nullptr) return;
  connect(m_services.shelf, &app::ModelShelf::memoryChanged, this, &ModelSupply::offerSeeing);
  takeUp();
  connect(&m_queue, &app::DownloadQueue::changed, this, &ModelSupply::noteUnfinished);
  auto* page = new QAction(tr("&Models…"), m_window);
  page->setShortcut(QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_O));
  connect(page, &QAction::triggered, this, &ModelSupply::openPage);
  m_window->addAction(page);
  m_views.menu.setManage(page);
}

ModelFetch* ModelSupply::offer(const OfferedModel& offer, ModelOfferBox& box, ModelMenu* menu) {
  auto* fetch = new ModelFetch(offer, {box, menu, m_views.notice}, m_model, m_answering, m_queue);
  fetch->setParent(this);
  connect(fetch, &ModelFetch::opened, this, &ModelSupply::opened);
  return fetch;
}

// Also in the place of one that was offered before more was known of this machine.
void ModelSupply::offerSeeing() {
  if (m_seeing != nullptr && m_seeing->isOnItsWay()) return;
  const std::optional<OfferedModel> offered = m_services.seeing ? m_services.seeing() : std::nullopt;
  if (!offered) return;
  delete m_seeing;
  m_seeing = offer(*offered, m_views.seeing, nullptr);
}

// Takes up what an earlier start had on its way, killed or not.
void ModelSupply::takeUp() {
  if (m_services.hub->unfinished) m_noted = m_services.hub->unfinished();
  for (app::QueuedDownload saved : m_noted) {
    const std::optional<app::HubName> name = app::readHubName(saved.key);
    if (!name) continue;
    const auto known = std::ranges::find(m_services.hub->known, name->text(), &app::KnownModel::repository);
    saved.key = name->text();
    saved.name = known != m_services.hub->known.end() ? known->name : name->text();
    m_queue.restore(saved, [make = m_services.hub->make, name = *name] { return make(name); });
  }
}

void ModelSupply::noteUnfinished() {
  using State = app::QueuedDownload::State;
  std::vector<app::QueuedDownload> downloads = m_queue.downloads();
  std::erase_if(downloads, [](const auto& each) { return each.state == State::kHere || !app::readHubName(each.key); });
  // How far each is lies on the disk.
  const auto same = [](const app::QueuedDownload& a, const app::QueuedDownload& b) {
    return a.key == b.key && a.toCome == b.toCome && (a.state == State::kFailed) == (b.state == State::kFailed) &&
           a.fault.problem == b.fault.problem;
  };
  if (std::ranges::equal(downloads, m_noted, same)) return;
  m_noted = downloads;
  if (m_services.hub->noteUnfinished) m_services.hub->noteUnfinished(downloads);
}

void ModelSupply::openPage() {
  std::vector<std::pair<app::ModelOrigin, QString>> places;
  for (const QString& place : m_services.settings.recentModelFolders()) {
    if (place != m_model.demoFolder() && !app::isServerAddress(place.toStdString())) places.emplace_back(app::ModelOrigin::kOpened, place);
  }
  if (!m_model.demoFolder().isEmpty()) places.emplace_back(app::ModelOrigin::kDemo, m_model.demoFolder());
  m_services.shelf->setOpened(places);
  auto* page = new ModelsDialog({*m_services.shelf, m_queue, *m_services.hub}, m_model.folder(), m_window);
  connect(page, &ModelsDialog::openRequested, this, [this](const QString& path, const QString& name) {
    m_model.load(path, name);
    Q_EMIT opened();
  });
  enterRoom(page);
}

QStringList ModelSupply::status() const {
  QStringList lines;
  for (const app::QueuedDownload& download : m_queue.downloads()) {
    if (download.state == app::QueuedDownload::State::kRunning) lines << app::downloadWords(download);
  }
  return lines;
}

// Its own object tells of it.
bool ModelSupply::isOffered(const QString& key) const {
  return (m_text != nullptr && m_text->key() == key) || (m_seeing != nullptr && m_seeing->key() == key);
}

void ModelSupply::onFinished(const QString& key, const QString& file) {
  const std::optional<app::QueuedDownload> download = m_queue.find(key);
  if (isOffered(key) || !download || m_window->findChild<ModelsDialog*>() != nullptr) return;
  const auto open = [this, file] {
    m_model.load(file);
    Q_EMIT opened();
  };
  m_views.notice.present({.text = tr("%1 is ready.").arg(download->name), .actions = {{tr("Open it"), open}}});
}

void ModelSupply::onFailed(const QString& key, const app::DownloadFault& fault) {
  const std::optional<app::QueuedDownload> download = m_queue.find(key);
  if (isOffered(key) || !download || m_window->findChild<ModelsDialog*>() != nullptr) return;
  Notice notice = noticeOf(app::describeDownloadFault(fault, download->name));
  notice.actions.push_back({tr("Try again"), [this, key] { m_queue.resume(key); }});
  m_views.notice.present(notice);
}

}  // namespace winnow::ui
