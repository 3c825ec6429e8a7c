#include "app/library/models/model_care.h"

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QFileInfo>
#include <QStandardPaths>
#include <algorithm>

#include "app/library/downloads/download_fault.h"
#include "app/library/downloads/model_offers.h"
#include "app/library/hub/hub_cache.h"
#include "app/library/hub/hub_repository.h"
#include "engine/api/model_kinds.h"

namespace winnow::app {
namespace {

// The repository's folder of a file or folder in the hub's cache; empty: it lies elsewhere.
QString repositoryFolder(const QString& path) {
  const qsizetype snapshots = path.indexOf(QLatin1String("/snapshots/"));
  const QString folder = snapshots < 0 ? QString() : path.left(snapshots);
  return hubRepositoryOf(QFileInfo(folder).fileName()).isEmpty() ? QString() : folder;
}

// The hash that a file's bytes are known by; empty: nobody has written one down.
QByteArray knownHash(const QString& path) {
  QString name = QFileInfo(QFileInfo(path).canonicalFilePath()).fileName();
  if (name.startsWith(QLatin1String("sha256-"))) name = name.mid(7);  // Ollama's
  if (hashKind(name.toLatin1())) return name.toLatin1();
  for (const ModelOffer& offer : modelOffers()) {
    if (offer.fileName() == name) return offer.fileSha256;
  }
  for (const ModelOffer& offer : speechOffers()) {
    for (const ModelOffer& file : QFileInfo(path).dir().dirName() == offer.id ? offer.files() : std::vector<ModelOffer>()) {
      if (file.fileName() == name) return file.fileSha256;
    }
  }
  return {};
}

VerifiedFile::State stateOf(const QString& path, const InterruptToken& interrupt, const std::function<void(qint64)>& progress) {
  const QByteArray hash = knownHash(path);
  if (hash.isEmpty()) return VerifiedFile::State::kNoHash;
  try {
    const bool right = blobHashOf(path, hashKind(hash).value(), interrupt, progress) == hash;
    return right ? VerifiedFile::State::kRight : VerifiedFile::State::kDamaged;
  } catch (const DownloadError&) {
    return VerifiedFile::State::kUnreadable;
  }
}

// True if another model of the same folder is left that needs what lies beside.
bool othersBeside(const QString& path, const QStringList& own) {
  const QDir folder = QFileInfo(path).dir();
  const QStringList names = folder.entryList({QStringLiteral("*.gguf")}, QDir::Files);
  return std::ranges::any_of(
      names, [&](const QString& name) { return !names_projector(name.toStdString()) && !own.contains(folder.filePath(name)); });
}

// The links of a repository's snapshots that lead to that blob.
QStringList linksTo(const QString& repository, const QString& blob) {
  QStringList links;
  QDirIterator iterator(repository + QStringLiteral("/snapshots"), QDir::Files | QDir::Hidden, QDirIterator::Subdirectories);
  while (iterator.hasNext()) {
    iterator.next();
    if (iterator.fileInfo().isSymLink() && iterator.fileInfo().canonicalFilePath() == blob) links << iterator.filePath();
  }
  return links;
}

class Removal {
 public:
  explicit Removal(const MoveToTrash& trash) : m_trash(trash) {}

  // A folder and all that is in it.
  void folder(const QString& path) {
    qint64 bytes = 0;
    QDirIterator files(path, QDir::Files | QDir::Hidden | QDir::NoSymLinks, QDirIterator::Subdirectories);
    while (files.hasNext()) {
      files.next();
      bytes += files.fileInfo().size();
    }
    move(path, bytes);
  }
  void file(const QString& path) { move(path, QFileInfo(path).size()); }
  // Removes from the hub's cache its blob, and the links that would lead to nothing.
  void blob(const QString& repository, const QString& path) {
    const QString real = QFileInfo(path).canonicalFilePath();
    const QStringList links = linksTo(repository, real);
    move(real, QFileInfo(real).size());
    if (m_removed.state != RemovedModel::State::kRemoved) return;
    for (const QString& link : links) QFile::remove(link);
  }
  RemovedModel result() const { return m_removed; }

 private:
  void move(const QString& path, qint64 bytes) {
    if (m_removed.state != RemovedModel::State::kRemoved) return;
    if (m_trash(path)) {
      m_removed.bytes += bytes;
    } else {
      m_removed.state = RemovedModel::State::kNotPossible;
      m_removed.path = path;
    }
  }

  const MoveToTrash& m_trash;
  RemovedModel m_removed;
};

}  // namespace

QStringList modelFiles(const FoundModel& model) {
  QStringList files;
  if (QFileInfo(model.path).isDir()) {
    const QDir folder(model.path);
    for (const QString& name : folder.entryList(QDir::Files)) {
      if (!name.endsWith(QLatin1String(".checked"))) files << folder.filePath(name);  // stamps of model_folder.h
    }
    return files;
  }
  return ggufParts(model.path) + projectorsBeside(model.path);
}

std::vector<VerifiedFile> verifyModel(const FoundModel& model, const InterruptToken& interrupt,
                                      const std::function<void(qint64 done, qint64 total)>& progress) {
  const QStringList files = modelFiles(model);
  qint64 total = 0;
  for (const QString& file : files) total += QFileInfo(file).size();
  qint64 before = 0;
  std::vector<VerifiedFile> verified;
  for (const QString& file : files) {
    verified.push_back({file, stateOf(file, interrupt, [&](qint64 done) { progress(before + done, total); })});
    before += QFileInfo(file).size();
  }
  return verified;
}

bool moveToTrash(const QString& path) {
  // If there was no trash before, Qt makes one, but not the folders above it.
  QDir().mkpath(QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation));
  return QFile::moveToTrash(path);
}

RemovedModel removeModel(const FoundModel& model, const MoveToTrash& trash) {
  if (model.origin == ModelOrigin::kOllama) return {RemovedModel::State::kNotOurs, {}, 0};
  Removal removal(trash);
  const QString repository = repositoryFolder(model.path);
  const bool folder = QFileInfo(model.path).isDir();
  const QStringList parts = folder ? QStringList() : ggufParts(model.path);
  const bool alone = folder || !othersBeside(model.path, parts);
  if (!repository.isEmpty() && alone) {
    removal.folder(repository);
  } else if (folder) {
    removal.folder(model.path);
  } else {
    for (const QString& file : alone ? parts + projectorsBeside(model.path) : parts) {
      repository.isEmpty() ? removal.file(file) : removal.blob(repository, file);
    }
  }
  return removal.result();
}

}  // namespace winnow::app
