#include "app/downloads/download_queue.h"

#include <algorithm>
#include <utility>

namespace winnow::app {

struct DownloadQueue::Entry {
  QueuedDownload shown;
  Make make;
  std::unique_ptr<ModelDownload> download;  // while it runs
  DownloadSpeed speed;
};

DownloadQueue::DownloadQueue(QObject* parent) : QObject(parent) { m_clock.start(); }

DownloadQueue::~DownloadQueue() = default;

void DownloadQueue::add(const QString& key, const QString& name, const Make& make) {
  entryFor(key, name, make);
  resume(key);
}

void DownloadQueue::addPaused(const QString& key, const QString& name, const Make& make) {
  if (entryOf(key) == nullptr) entryFor(key, name, make).shown.state = QueuedDownload::State::kPaused;
  Q_EMIT changed(key);
}

void DownloadQueue::pause(const QString& key) {
  Entry* entry = entryOf(key);
  if (entry == nullptr || !entry->shown.onItsWay()) return;
  entry->download.reset();
  entry->shown.state = QueuedDownload::State::kPaused;
  Q_EMIT changed(key);
  startNext();
}

void DownloadQueue::resume(const QString& key) {
  Entry* entry = entryOf(key);
  if (entry == nullptr || entry->shown.onItsWay()) return;
  entry->shown.state = QueuedDownload::State::kWaiting;
  entry->shown.fault = {};
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
  auto running = std::ranges::count_if(m_entries, [](const auto& entry) { return entry->download != nullptr; });
  for (const auto& entry : m_entries) {
    if (running >= kAtOnce) return;
    if (entry->shown.state != QueuedDownload::State::kWaiting) continue;
    start(*entry);
    ++running;
  }
}

void DownloadQueue::start(Entry& entry) {
  entry.shown.state = QueuedDownload::State::kRunning;
  entry.shown.progress = {};
  entry.speed = {};
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
  }
  Q_EMIT changed(entry.shown.key);
}

void DownloadQueue::end(Entry& entry, QueuedDownload::State state) {
  entry.download.release()->deleteLater();  // it is the one that speaks
  entry.shown.state = state;
  Q_EMIT changed(entry.shown.key);
  startNext();
}

}  // namespace winnow::app
