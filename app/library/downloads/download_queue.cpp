#include "app/library/downloads/download_queue.h"

#include <algorithm>
#include <utility>

namespace winnow::app {

struct DownloadQueue::Entry {
  QueuedDownload shown;
  Make make;
  std::unique_ptr<ModelDownload> download;  // while it runs
  bool lookedUp = false;                    // since it was asked for
  bool early = false;                       // it runs before its turn, to be looked up
  qint64 firstCome = -1;                    // what had come when it began; below 0: it has not
  DownloadSpeed speed;
};

DownloadQueue::DownloadQueue(QObject* parent) : QObject(parent) { m_clock.start(); }

DownloadQueue::~DownloadQueue() = default;

void DownloadQueue::add(const QString& key, const QString& name, const Make& make) {
  entryFor(key, name, make);
  resume(key);
}

void DownloadQueue::restore(const QueuedDownload& saved, const Make& make) {
  if (entryOf(saved.key) == nullptr) {
    QueuedDownload& shown = entryFor(saved.key, saved.name, make).shown;
    shown = saved;
    if (shown.state != QueuedDownload::State::kFailed) shown.state = QueuedDownload::State::kPaused;
  }
  Q_EMIT changed(saved.key);
}

void DownloadQueue::pause(const QString& key) {
  Entry* entry = entryOf(key);
  if (entry == nullptr || !entry->shown.onItsWay()) return;
  entry->download.reset();
  entry->early = false;
  entry->shown.state = QueuedDownload::State::kPaused;
  Q_EMIT changed(key);
  startNext();
}

void DownloadQueue::resume(const QString& key) {
  Entry* entry = entryOf(key);
  if (entry == nullptr || entry->shown.onItsWay()) return;
  entry->shown.state = QueuedDownload::State::kWaiting;
  entry->shown.fault = {};
  entry->lookedUp = false;
  Q_EMIT changed(key);
  startNext();
}

void DownloadQueue::remove(const QString& key) {
  const auto removed = std::ranges::find(m_entries, key, [](const auto& entry) { return entry->shown.key; });
  if (removed == m_entries.end()) return;
  m_entries.erase(removed);
  Q_EMIT listed();
  Q_EMIT changed(key);
  startNext();
}

std::vector<QueuedDownload> DownloadQueue::downloads() const {
  std::vector<QueuedDownload> all;
  for (const auto& entry : m_entries) all.push_back(entry->shown);
  return all;
}

std::optional<QueuedDownload> DownloadQueue::find(const QString& key) const {
  const Entry* entry = entryOf(key);
  return entry != nullptr ? std::optional(entry->shown) : std::nullopt;
}

DownloadQueue::Entry* DownloadQueue::entryOf(const QString& key) const {
  const auto found = std::ranges::find(m_entries, key, [](const auto& entry) { return entry->shown.key; });
  return found != m_entries.end() ? found->get() : nullptr;
}

DownloadQueue::Entry& DownloadQueue::entryFor(const QString& key, const QString& name, const Make& make) {
  if (Entry* there = entryOf(key)) return *there;
  auto entry = std::make_unique<Entry>();
  entry->shown.key = key;
  entry->shown.name = name;
  entry->shown.state = QueuedDownload::State::kPaused;
  entry->make = make;
  m_entries.push_back(std::move(entry));
  Q_EMIT listed();
  return *m_entries.back();
}

void DownloadQueue::startNext() {
  auto running = std::ranges::count_if(m_entries, [](const auto& entry) { return entry->download != nullptr && !entry->early; });
  for (const auto& entry : m_entries) {
    const bool waits = entry->shown.state == QueuedDownload::State::kWaiting;
    const bool turn = running < kAtOnce;
    if (!waits && !entry->early) continue;
    if (waits && !turn && entry->lookedUp) continue;
    entry->early = !turn;
    running += turn ? 1 : 0;
    if (waits) start(*entry);
  }
}

void DownloadQueue::start(Entry& entry) {
  entry.shown.state = QueuedDownload::State::kRunning;
  entry.shown.progress = {};
  entry.speed = {};
  entry.firstCome = -1;
  entry.download = entry.make();
  connect(entry.download.get(), &ModelDownload::progressed, this,
          [this, &entry](const DownloadProgress& progress) { onProgress(entry, progress); });
  connect(entry.download.get(), &ModelDownload::finished, this, [this, &entry](const QString& file) {
    entry.shown.file = file;
    const QString key = entry.shown.key;
    end(entry, QueuedDownload::State::kHere);
    Q_EMIT finished(key, file);
  });
  connect(entry.download.get(), &ModelDownload::failed, this, [this, &entry](const DownloadFault& fault) {
    entry.shown.fault = fault;
    if (fault.problem == DownloadProblem::kHashDiffers) entry.shown.come = 0;  // it is removed
    const QString key = entry.shown.key;
    end(entry, QueuedDownload::State::kFailed);
    Q_EMIT failed(key, fault);
  });
  Q_EMIT changed(entry.shown.key);
  entry.download->start();
}

void DownloadQueue::onProgress(Entry& entry, const DownloadProgress& progress) {
  entry.shown.progress = progress;
  entry.shown.bytesPerSecond = 0;
  entry.shown.secondsLeft.reset();
  if (progress.stage == DownloadStage::kDownloading) {
    entry.speed.told(m_clock.elapsed(), progress.done);
    entry.shown.come = progress.done;
    entry.shown.toCome = progress.total;
    entry.shown.bytesPerSecond = entry.speed.bytesPerSecond();
    entry.shown.secondsLeft = entry.speed.secondsLeft(progress.total);
    // The server has begun to send it: it may be had, and waits for its turn.
    if (entry.firstCome < 0) entry.firstCome = progress.done;
    if (entry.early && progress.done > entry.firstCome) {
      const QString key = entry.shown.key;
      QMetaObject::invokeMethod(
          this, [this, key] { putBack(key); }, Qt::QueuedConnection);  // it is the one that speaks
    }
  }
  Q_EMIT changed(entry.shown.key);
}

void DownloadQueue::putBack(const QString& key) {
  Entry* entry = entryOf(key);
  if (entry == nullptr || entry->download == nullptr || !entry->early) return;  // its turn has come meanwhile
  entry->download.reset();
  entry->early = false;
  entry->lookedUp = true;
  entry->shown.state = QueuedDownload::State::kWaiting;
  Q_EMIT changed(key);
}

void DownloadQueue::end(Entry& entry, QueuedDownload::State state) {
  entry.download.release()->deleteLater();  // it is the one that speaks
  entry.early = false;
  entry.shown.state = state;
  Q_EMIT changed(entry.shown.key);
  startNext();
}

}  // namespace winnow::app
