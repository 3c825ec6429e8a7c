#include "app/library/hub/hub_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QFileInfo>
#include <algorithm>
#include <cerrno>
#include <utility>

#include "app/library/downloads/download_disk.h"
#include "app/library/downloads/download_fault.h"
#include "engine/base/error.h"
#include "engine/base/replaced_file.h"

namespace winnow::app {
namespace {

constexpr qint64 kMostReferenceBytes = 128;
constexpr qint64 kMostStampBytes = 1024;
constexpr QLatin1String kModelsFolder("models--");

void renameOver(const QString& from, const QString& to) {
  if (::rename(QFile::encodeName(from).constData(), QFile::encodeName(to).constData()) != 0) refuseWrite(to, errno);
}

// Changes with every way in which a file could become another one; its owner cannot set the time of the last change of its state. Empty:
// it is not there.
QByteArray stampOf(const QString& path, const HubFile& file) {
  struct stat status {};
  if (::stat(QFile::encodeName(path).constData(), &status) != 0) return {};
  const auto nanoseconds = [](const timespec& time) {
    return QByteArray::number(qint64{time.tv_sec} * 1'000'000'000 + time.tv_nsec) + ' ';
  };
  return QByteArray::number(static_cast<quint64>(status.st_dev)) + ' ' + QByteArray::number(static_cast<quint64>(status.st_ino)) + ' ' +
         QByteArray::number(static_cast<qint64>(status.st_size)) + ' ' + nanoseconds(status.st_mtim) + nanoseconds(status.st_ctim) +
         file.hash + '\n';
}

// The link's target, or the file itself if the file system has no links.
QString blobName(const QFileInfo& entry) { return entry.isSymLink() ? QFileInfo(entry.symLinkTarget()).fileName() : QString(); }

}  // namespace

QString hubFolderName(const QString& repository) {
  return kModelsFolder + QString(repository).replace(QLatin1Char('/'), QLatin1String("--"));
}

QString hubRepositoryOf(const QString& folderName) {
  if (!folderName.startsWith(kModelsFolder)) return {};
  return folderName.sliced(kModelsFolder.size()).replace(QLatin1String("--"), QLatin1String("/"));
}

HubCache::HubCache(QString cache, const QString& repository, const QString& revision)
    : m_cache(std::move(cache)),
      m_name(hubFolderName(repository)),
      m_folder(m_cache + QLatin1Char('/') + m_name),
      m_revision(revision.isEmpty() ? QStringLiteral("main") : revision) {}

QString HubCache::snapshot(const QString& commit) const { return m_folder + QStringLiteral("/snapshots/") + commit; }

QString HubCache::blob(const HubFile& file) const { return m_folder + QStringLiteral("/blobs/") + QString::fromLatin1(file.hash); }

qint64 HubCache::incompleteBytes() const {
  qint64 bytes = 0;
  const QDir blobs(m_folder + QStringLiteral("/blobs"));
  for (const QFileInfo& part : blobs.entryInfoList({QStringLiteral("*.incomplete")}, QDir::Files)) bytes += part.size();
  return bytes;
}

QString HubCache::incomplete(const HubFile& file) const { return blob(file) + QStringLiteral(".incomplete"); }

QString HubCache::referencePath() const { return m_folder + QStringLiteral("/refs/") + m_revision; }

QString HubCache::stampPath(const HubFile& file) const {
  return m_folder + QStringLiteral("/.winnow-checked/") + QString::fromLatin1(file.hash);
}

QString HubCache::reference() const {
  if (isCommit(m_revision)) return m_revision;
  QFile file(referencePath());
  if (!QFileInfo(file.fileName()).isFile() || !file.open(QIODevice::ReadOnly)) return {};
  const QString commit = QString::fromLatin1(file.read(kMostReferenceBytes)).trimmed();
  return isCommit(commit) ? commit : QString();
}

std::vector<HubFile> HubCache::stored(const QString& commit) const {
  std::vector<HubFile> files;
  const QString folder = snapshot(commit);
  QDirIterator iterator(folder, QDir::Files | QDir::Hidden, QDirIterator::Subdirectories);
  while (iterator.hasNext() && files.size() < kMostHubFiles) {
    iterator.next();
    HubFile file;
    file.path = QDir(folder).relativeFilePath(iterator.filePath());
    file.bytes = QFileInfo(iterator.filePath()).size();
    file.hash = blobName(iterator.fileInfo()).toLatin1();
    if (const std::optional<BlobHash> kind = hashKind(file.hash)) file.kind = *kind;
    files.push_back(file);
  }
  std::ranges::sort(files, {}, &HubFile::path);
  return files;
}

void HubCache::makeFolders() const {
  for (const char* each : {"/refs", "/blobs", "/snapshots"}) requireFolder(m_folder + QLatin1String(each));
  requireFolder(m_cache + QStringLiteral("/.locks/") + m_name);
}

QString HubCache::found(const HubFile& file, const QString& commit) const {
  for (const QString& path : {blob(file), snapshot(commit) + QLatin1Char('/') + file.path}) {
    const QFileInfo info(path);
    if (info.isFile() && !info.isSymLink() && info.size() == file.bytes) return path;
  }
  return {};
}

bool HubCache::isChecked(const HubFile& file, const QString& path) const {
  const QByteArray name = QFile::encodeName(stampPath(file));
  struct stat status {};
  if (::lstat(name.constData(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != ::geteuid()) return false;
  QFile stamp(stampPath(file));
  const QByteArray expected = stampOf(path, file);
  return !expected.isEmpty() && stamp.open(QIODevice::ReadOnly) && stamp.read(kMostStampBytes) == expected;
}

void HubCache::markChecked(const HubFile& file, const QString& path) const {
  try {
    requireFolder(QFileInfo(stampPath(file)).path());
    ReplacedFile stamp(QFile::encodeName(stampPath(file)).toStdString());
    stamp.write(stampOf(path, file).toStdString());
    stamp.commit();
  } catch (const std::exception&) {
  }
}

void HubCache::accept(const HubFile& file) const {
  renameOver(incomplete(file), blob(file));
  markChecked(file, blob(file));
}

void HubCache::link(const HubFile& file, const QString& commit) const {
  const QString path = snapshot(commit) + QLatin1Char('/') + file.path;
  const QString up = QStringLiteral("../").repeated(file.path.count(QLatin1Char('/')) + 2);
  const QByteArray target = QFile::encodeName(up + QStringLiteral("blobs/") + QString::fromLatin1(file.hash));
  if (!QFileInfo(blob(file)).isFile()) return;  // the file itself is in the snapshot
  requireFolder(QFileInfo(path).path());
  const QString beside = path + QStringLiteral(".winnow-%1").arg(::getpid());
  ::unlink(QFile::encodeName(beside).constData());
  if (::symlink(target.constData(), QFile::encodeName(beside).constData()) == 0) return renameOver(beside, path);
  const int code = errno;
  if (code != EPERM && code != EOPNOTSUPP && code != ENOSYS) refuseWrite(path, code);
  renameOver(blob(file), path);
}

void HubCache::setReference(const QString& commit) const {
  if (isCommit(m_revision)) return;  // it names itself
  const QString path = referencePath();
  requireFolder(QFileInfo(path).path());
  try {
    ReplacedFile file(QFile::encodeName(path).toStdString());
    file.write(commit.toStdString());
    file.commit();
  } catch (const Exception& problem) {
    throw DownloadError({DownloadProblem::kUnwritable, path, QString::fromStdString(problem.error().reason)});
  }
}

HubLock::HubLock(const HubCache& cache, const HubFile& file) {
  const QString path = cache.m_cache + QStringLiteral("/.locks/") + cache.m_name + QLatin1Char('/') + QString::fromLatin1(file.hash) +
                       QStringLiteral(".lock");
  m_descriptor = ::open(QFile::encodeName(path).constData(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (m_descriptor < 0) refuseWrite(path, errno);
  if (::flock(m_descriptor, LOCK_EX | LOCK_NB) == 0) return;
  const int code = errno;
  ::close(m_descriptor);
  if (code == EWOULDBLOCK) throw DownloadError({DownloadProblem::kBusy, path, QStringLiteral("another program is fetching it")});
  // A file system without locks: the part file's own is asked for as well.
  m_descriptor = -1;
}

HubLock::~HubLock() {
  if (m_descriptor >= 0) ::close(m_descriptor);
}

}  // namespace winnow::app
