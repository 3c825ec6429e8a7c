#include "app/media/files/media_store.h"

#include <unistd.h>
#include <QCryptographicHash>
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "app/ground/process/own_folder.h"
#include "engine/base/error.h"
#include "engine/base/replaced_file.h"

namespace winnow::app {
namespace {

constexpr qint64 kInUseS = 60;
constexpr char kPart[] = "part-";

// The name is this process's: another one may have begun to write the same file.
std::string partName(const std::string& sha256) { return kPart + std::to_string(::getpid()) + "-" + sha256; }

bool isHash(const std::string& name) { return name.size() == 64 && name.find_first_not_of("0123456789abcdef") == std::string::npos; }

// Counts as used now.
void touch(const QString& path) {
  QFile file(path);
  if (file.open(QIODevice::ReadOnly)) file.setFileTime(QDateTime::currentDateTimeUtc(), QFileDevice::FileModificationTime);
}

}  // namespace

std::string MediaStore::find(const std::string& sha256) {
  const std::lock_guard lock(m_mutex);
  return found(sha256);
}

std::string MediaStore::found(const std::string& sha256) const {
  if (!isHash(sha256)) return {};
  const std::string path = m_folder + "/" + sha256;
  const QString name = QFile::decodeName(QByteArray::fromStdString(path));
  if (!QFileInfo(name).isFile()) return {};
  touch(name);
  return path;
}

std::string MediaStore::put(std::span<const std::uint8_t> bytes) {
  const QByteArrayView view(bytes.data(), static_cast<qsizetype>(bytes.size()));
  const std::string sha256 = QCryptographicHash::hash(view, QCryptographicHash::Sha256).toHex().toStdString();
  const std::lock_guard lock(m_mutex);
  if (std::string known = found(sha256); !known.empty()) return known;
  prepareFor(static_cast<std::int64_t>(bytes.size()));
  std::string path = m_folder + "/" + sha256;
  ReplacedFile file(path);
  file.write(std::as_bytes(bytes));
  file.commit();
  return path;
}

std::string MediaStore::partFor(const std::string& sha256, std::int64_t bytes) {
  if (!isHash(sha256)) throw Exception(ErrorCode::kInvalidArgument, sha256, "it is no SHA-256");
  const std::lock_guard lock(m_mutex);
  prepareFor(bytes);
  return m_folder + "/" + partName(sha256);
}

std::string MediaStore::take(const std::string& sha256) {
  const std::lock_guard lock(m_mutex);
  std::string path = m_folder + "/" + sha256;
  const std::string part = m_folder + "/" + partName(sha256);
  if (::rename(part.c_str(), path.c_str()) != 0) throw Exception(ErrorCode::kFileUnwritable, part, std::strerror(errno));
  return path;
}

void MediaStore::prepareFor(std::int64_t bytes) {
  if (bytes > m_mostBytes) throw Exception(ErrorCode::kLimitExceeded, "", "the file is larger than all that is kept of such files");
  if (const FolderState made = makeOwnFolder(QFile::decodeName(QByteArray::fromStdString(m_folder))); !made)
    throw Exception(ErrorCode::kFileUnwritable, QFile::encodeName(made.path).toStdString(), reasonOf(made.fault));
  remove_unfinished(m_folder + "/");
  makeRoom(bytes);
}

void MediaStore::makeRoom(std::int64_t bytes) {
  const QDir folder(QFile::decodeName(QByteArray::fromStdString(m_folder)));
  QFileInfoList files = folder.entryInfoList(QDir::Files, QDir::Time | QDir::Reversed);  // the oldest first
  std::int64_t held = bytes;
  for (const QFileInfo& file : files) held += file.size();
  const QDateTime lately = QDateTime::currentDateTimeUtc().addSecs(-kInUseS);
  for (const QFileInfo& file : files) {
    if (held <= m_mostBytes) return;
    const std::string name = file.fileName().toStdString();
    if (!(isHash(name) || name.starts_with(kPart)) || file.lastModified() > lately) continue;
    if (QFile::remove(file.filePath())) held -= file.size();
  }
}

}  // namespace winnow::app
