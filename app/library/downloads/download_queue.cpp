#include "app/library/downloads/download_queue.h"

#include <QDir>
#include <QFile>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/ground/process/own_folder.h"
#include "engine/base/json_document.h"
#include "engine/base/replaced_file.h"

namespace winnow::app {
namespace {

constexpr qint64 kLookedBackMs = 8000;
constexpr qint64 kLeastMs = 500;
constexpr qint64 kSecondMs = 1000;

constexpr qsizetype kMostNameLength = 300;
constexpr std::size_t kMostTextBytes = 4096;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;

std::string unfinishedFile(const QString& data) {
  return QFile::encodeName(QDir(data).filePath(QStringLiteral("downloads.json"))).toStdString();
}

// Earlier versions wrote the name alone.
std::optional<QueuedDownload> readDownload(const Json& json) {
  QueuedDownload download{.state = QueuedDownload::State::kPaused};
  if (json.is_string()) {
    download.key = QString::fromStdString(json.get<std::string>());
  } else if (json.is_object()) {
    const JsonObject row(json, "downloads.json");
    const auto text = [](const JsonObject& of, const char* key) { return QString::fromStdString(of.string(key, kMostTextBytes, {})); };
    download.key = text(row, "name");
    download.toCome = row.integer("bytes", 0, kMostBytes, 0);
    if (const std::optional<JsonObject> fault = row.optional_object("fault")) {
      download.state = QueuedDownload::State::kFailed;
      download.fault.problem = static_cast<DownloadProblem>(fault->integer("problem", 1, static_cast<int>(DownloadProblem::kChanged)));
      download.fault.subject = text(*fault, "subject");
      download.fault.reason = text(*fault, "reason");
      download.fault.status = static_cast<int>(fault->integer("status", 0, 999, 0));
      download.fault.bytes = fault->integer("bytes", 0, kMostBytes, 0);
    }
  }
  if (download.key.isEmpty() || download.key.size() > kMostNameLength) return std::nullopt;
  return download;
}

Json jsonOf(const QueuedDownload& download) {
  Json json = {{"name", download.key.toStdString()}};
  if (download.toCome > 0) json["bytes"] = download.toCome;
  if (download.state != QueuedDownload::State::kFailed) return json;
  const DownloadFault& fault = download.fault;
  json["fault"] = {
      {"problem", static_cast<int>(fault.problem)}, {"subject", fault.subject.toStdString()}, {"reason", fault.reason.toStdString()}};
  if (fault.status > 0) json["fault"]["status"] = fault.status;
  if (fault.bytes > 0) json["fault"]["bytes"] = fault.bytes;
  return json;
}

}  // namespace

void DownloadSpeed::told(qint64 atMs, qint64 doneBytes) {
  if (!m_moments.empty() && doneBytes < m_moments.back().bytes) m_moments.clear();
  m_moments.push_back({atMs, doneBytes});
  while (m_moments.size() > 2 && m_moments.front().atMs < atMs - kLookedBackMs) m_moments.pop_front();
}

qint64 DownloadSpeed::bytesPerSecond() const {
  if (m_moments.empty()) return 0;
  const qint64 ms = m_moments.back().atMs - m_moments.front().atMs;
  return ms < kLeastMs ? 0 : (m_moments.back().bytes - m_moments.front().bytes) * kSecondMs / ms;
}

std::optional<qint64> DownloadSpeed::secondsLeft(qint64 totalBytes) const {
  const qint64 speed = bytesPerSecond();
  if (speed <= 0 || totalBytes <= 0) return std::nullopt;
  return (totalBytes - m_moments.back().bytes + speed - 1) / speed;
}

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

std::vector<QueuedDownload> unfinishedDownloads(const QString& data) {
  std::vector<QueuedDownload> downloads;
  try {
    for (const Json& each : load_json(unfinishedFile(data))) {
      const std::optional<QueuedDownload> download = readDownload(each);
      if (download && downloads.size() < kMostUnfinished) downloads.push_back(*download);
    }
  } catch (const Exception&) {
    return {};
  }
  return downloads;
}

void noteUnfinishedDownloads(const QString& data, const std::vector<QueuedDownload>& downloads) {
  Json document = Json::array();
  for (const QueuedDownload& each : downloads) document.push_back(jsonOf(each));
  if (!makeOwnFolder(data)) return;
  try {
    ReplacedFile file(unfinishedFile(data));
    file.write(document.dump(1, ' ', false, Json::error_handler_t::replace));
    file.commit();
  } catch (const Exception&) {
    return;  // the next start does without
  }
}

}  // namespace winnow::app
