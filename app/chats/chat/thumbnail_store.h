// Posters of attachments as PNG files in the cache folder; losing them costs nothing but a redraw.
//
// Used by ChatDatabase. A file is named by the content hash (or, without one, by a hash of path and size), never by a user's file name.
// Errors: none; what cannot be written or read is simply absent. At most kMaxThumbnailBytes each. Threads: one at a time.
#pragma once

#include <QByteArray>
#include <QString>

#include "app/chats/chat/conversation.h"

namespace winnow::app {

inline constexpr qint64 kMaxThumbnailBytes = qint64{1} << 20;

class ThumbnailStore {
 public:
  enum class Access : int { kRead = 1, kReadAndWrite = 2 };
  explicit ThumbnailStore(const QString& cacheFolder, Access access = Access::kReadAndWrite);
  void save(const Attachment& attachment) const;  // does nothing without a thumbnail, or when it is there already
  QByteArray load(const Attachment& attachment) const;
  void remove(const Attachment& attachment) const;
  QString fileOf(const Attachment& attachment) const;

 private:
  QString m_folder;
  Access m_access;
};

}  // namespace winnow::app
