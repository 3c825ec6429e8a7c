// The part of a file that has come so far: it grows at its end, survives the process, belongs to one process at a time.
//
// Used by package_download.h, address_fetch.h and app/library/hub. A kernel lock on the file itself keeps a second Winnow away and is gone
// with its process. What is not a regular file of that name is refused, links too. Errors: DownloadError (kBusy, kUnwritable, kNoSpace).
// Threads: confined to one.
#pragma once

#include <QByteArray>
#include <QByteArrayView>
#include <QString>
#include <functional>

#include "engine/base/interrupt.h"

namespace winnow::app {

class PartFile {
 public:
  explicit PartFile(const QString& path);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  QString path() const { return m_path; }
  qint64 size() const { return m_size; }
  void append(QByteArrayView bytes);
  void clear();
  void remove();  // from the disk; the lock goes with this object
  // Hexadecimal. Throws Interrupted.
  QByteArray sha256(const InterruptToken& interrupt, const std::function<void(qint64 done)>& progress) const;

 private:
  const QString m_path;
  int m_descriptor = -1;
  qint64 m_size = 0;
};

}  // namespace winnow::app
