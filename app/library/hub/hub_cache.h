// One repository in the hub's cache on this machine, laid out as the hub's own tools lay it out, so that they use what Winnow fetched and
// the other way round:
//
//   models--OWNER--NAME/refs/REVISION          the commit
//                       blobs/HASH             files by their hash; HASH.incomplete while they come
//                       snapshots/COMMIT/PATH  links to ../../blobs/HASH (where a file system has no links, the file itself)
//                       .winnow-checked/HASH these bytes were hashed: a stamp of Winnow's own, which the hub's tools do not look at
//   .locks/models--OWNER--NAME/HASH.lock       held (flock) while HASH is fetched
//
// Used by hub_fetch.h. Nothing of a snapshot appears before its bytes are whole and checked. What others have put there is hashed once: a
// stamp counts if this user wrote it and the file is the very same one since, by its number, size and times. Errors: DownloadError
// (kUnwritable, kNoSpace, kBusy). Touches the disk. Threads: any.
#pragma once

#include <QString>
#include <vector>

#include "app/library/hub/hub_repository.h"

namespace winnow::app {

class HubCache {
 public:
  // `cache`: HubPlace::cache; `repository` and `revision`: of HubName.
  HubCache(QString cache, const QString& repository, const QString& revision = {});

  QString folder() const { return m_folder; }
  QString snapshot(const QString& commit) const;
  QString blob(const HubFile& file) const;
  QString incomplete(const HubFile& file) const;
  // Bytes of files that have not come whole, as the last try left them.
  qint64 incompleteBytes() const;
  // The commit that the revision was at when it was fetched last; empty: never.
  QString reference() const;
  // The files of that commit that are here with all their bytes, by the names and hashes of their blobs.
  std::vector<HubFile> stored(const QString& commit) const;

  void makeFolders() const;
  // The path of a file of its name and size, in the blobs or in that commit's snapshot; empty: there is none. What is in it is not known.
  QString found(const HubFile& file, const QString& commit) const;
  bool isChecked(const HubFile& file, const QString& path) const;
  void markChecked(const HubFile& file, const QString& path) const;  // its hash was right; where it cannot be noted, it is hashed again
  // `incomplete` was checked: it is the blob now.
  void accept(const HubFile& file) const;
  void link(const HubFile& file, const QString& commit) const;
  void setReference(const QString& commit) const;

 private:
  QString referencePath() const;
  QString stampPath(const HubFile& file) const;

  const QString m_cache;
  const QString m_name;  // models--owner--name
  const QString m_folder;
  const QString m_revision;

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
