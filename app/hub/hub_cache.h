// One repository in the hub's cache on this machine, laid out as the hub's own tools lay it out, so that they use what Winnow fetched and
// the other way round:
//
//   models--OWNER--NAME/refs/main              the commit
//                       blobs/HASH             files by their hash; HASH.incomplete while they come
//                       snapshots/COMMIT/PATH  links to ../../blobs/HASH (where a file system has no links, the file itself)
//   .locks/models--OWNER--NAME/HASH.lock       held (flock) while HASH is fetched
//
// Used by hub_fetch.h. Nothing of a snapshot appears before its bytes are whole and checked. Errors: DownloadError (kUnwritable, kNoSpace,
// kBusy). Touches the disk. Threads: any.
#pragma once

#include <QString>
#include <memory>
#include <vector>

#include "app/hub/hub_repository.h"

namespace winnow::app {

class HubCache {
 public:
  // `cache`: HubPlace::cache; `repository`: HubName::repository.
  HubCache(QString cache, const QString& repository);

  QString folder() const { return m_folder; }
  QString snapshot(const QString& commit) const;
  QString blob(const HubFile& file) const;
  QString incomplete(const HubFile& file) const;
  // Bytes of files that have not come whole, as the last try left them.
  qint64 incompleteBytes() const;
  // The commit that "main" was at when it was fetched last; empty: never.
  QString reference() const;
  // The files of that commit that are here with all their bytes, by the names and hashes of their blobs.
  std::vector<HubFile> stored(const QString& commit) const;

  void makeFolders() const;
  // Whether its bytes are here, in the blobs or in that commit's snapshot. By name and size: who wrote it has checked it.
  bool has(const HubFile& file, const QString& commit) const;
  // `incomplete` was checked: it is the blob now.
  void accept(const HubFile& file) const;
  void link(const HubFile& file, const QString& commit) const;
  void setReference(const QString& commit) const;

 private:
  const QString m_cache;
  const QString m_name;  // models--owner--name
  const QString m_folder;

  friend class HubLock;
};

// The hub's lock of one blob; gone with its process.
class HubLock {
 public:
  HubLock(const HubCache& cache, const HubFile& file);
  ~HubLock();
  HubLock(const HubLock&) = delete;
  HubLock& operator=(const HubLock&) = delete;

 private:
  int m_descriptor = -1;
};

// The folder's name in the cache: models--owner--name.
QString hubFolderName(const QString& repository);
// "owner/name" of a folder's name; empty: it is none of a model.
QString hubRepositoryOf(const QString& folderName);

}  // namespace winnow::app
