// How fast a download is, and how long it will take: from what came in the last seconds.
//
// Used by the terminal program and the window. No errors. Threads: confined to one.
#pragma once

#include <QtGlobal>
#include <deque>
#include <optional>

namespace winnow::app {

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

}  // namespace winnow::app
