// Models on their way: two come at once, the others wait. What is asked for is looked up at once all the same, so that a name that does not
// exist is refused while others come. Each can be paused, taken up again, and given up.
//
// Made by the window; its first screen and its page of models show the same downloads; the terminal program counts their speed alike. What
// has come of one stays on the disk whatever happens to it here. Nothing asks the network before add() or resume(). Errors: failed(), and
// QueuedDownload::fault. Threads: the UI thread; each download works on a thread of its own.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QtGlobal>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "app/library/downloads/model_download.h"

namespace winnow::app {

// How fast a download is, and how long it will take: from what came in the last seconds.
class DownloadSpeed {
 public:
  // `atMs`: of a clock that only goes forward. Less than before: another download, or begun anew.
  void told(qint64 atMs, qint64 doneBytes);
  qint64 bytesPerSecond() const;  // 0: not known yet
  // Nothing: not known yet, or nothing comes.
  std::optional<qint64> secondsLeft(qint64 totalBytes) const;

 private:
  struct Moment {
    qint64 atMs;
    qint64 bytes;
  };
  std::deque<Moment> m_moments;  // of the last seconds
};

struct QueuedDownload {
  enum class State : int { kWaiting = 1, kRunning = 2, kPaused = 3, kFailed = 4, kHere = 5 };

  QString key{};   // whatever tells it from others: an offer's id, a name of the hub
  QString name{};  // for people
  State state = State::kWaiting;
  DownloadProgress progress{};  // kRunning
  qint64 come = 0;              // bytes, by the last word of it
  qint64 toCome = 0;            // of how many; 0: not known
  qint64 bytesPerSecond = 0;    // 0: not known
  std::optional<qint64> secondsLeft{};
  DownloadFault fault{};  // kFailed
  QString file{};         // kHere: what the engine opens

  bool onItsWay() const { return state == State::kWaiting || state == State::kRunning; }
};

class DownloadQueue : public QObject {
  Q_OBJECT
 public:
  using Make = std::function<std::unique_ptr<ModelDownload>()>;
  static constexpr int kAtOnce = 2;

  explicit DownloadQueue(QObject* parent = nullptr);
  ~DownloadQueue() override;

  // One that is there already is taken up again.
  void add(const QString& key, const QString& name, const Make& make);
  // Restores a download of an earlier start of the program; paused, if it had not failed.
  void restore(const QueuedDownload& saved, const Make& make);
  void pause(const QString& key);
  void resume(const QString& key);
  void remove(const QString& key);

  std::vector<QueuedDownload> downloads() const;  // in the order in which they were added
  std::optional<QueuedDownload> find(const QString& key) const;

 Q_SIGNALS:
  void listed();                     // one more, or one less
  void changed(const QString& key);  // how far it is, or what it waits for
  void finished(const QString& key, const QString& file);
  void failed(const QString& key, const winnow::app::DownloadFault& fault);

 private:
  struct Entry;
  Entry* entryOf(const QString& key) const;
  Entry& entryFor(const QString& key, const QString& name, const Make& make);
  void startNext();
  void start(Entry& entry);
  void onProgress(Entry& entry, const DownloadProgress& progress);
  void putBack(const QString& key);
  void end(Entry& entry, QueuedDownload::State state);

  std::vector<std::unique_ptr<Entry>> m_entries;
  QElapsedTimer m_clock;
};

// Downloads that were on their way when the program ended: a small file in Winnow's data folder, `downloads.json`, a list of what was asked
// for, how large it is and why it failed.
//
// Written by the window whenever a download of the hub comes, ends or is given up; read at the next start, after a kill too. What has come
// of each lies where it is fetched to. What cannot be read or written counts as nothing. Touches the disk.

// data: AppFolders::data. Of each key, state (kPaused or kFailed), toCome and fault are kept; at most kMostUnfinished.
inline constexpr std::size_t kMostUnfinished = 50;
std::vector<QueuedDownload> unfinishedDownloads(const QString& data);
void noteUnfinishedDownloads(const QString& data, const std::vector<QueuedDownload>& downloads);

}  // namespace winnow::app
