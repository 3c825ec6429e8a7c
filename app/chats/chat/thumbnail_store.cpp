#include "app/chats/chat/thumbnail_store.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSaveFile>
#include <algorithm>

namespace winnow::app {

namespace {

bool isHash(const QByteArray& text) {
  return text.size() == 64 &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

ThumbnailStore::ThumbnailStore(const QString& cacheFolder, Access access)
    : m_folder(cacheFolder + QStringLiteral("/thumbnails")), m_access(access) {}

QString ThumbnailStore::fileOf(const Attachment& attachment) const {
  const QByteArray name =
      isHash(attachment.sha256)
          ? attachment.sha256
          : QCryptographicHash::hash(attachment.path + '\0' + QByteArray::number(attachment.sizeBytes), QCryptographicHash::Sha256).toHex();
  return m_folder + QLatin1Char('/') + QLatin1String(name.left(2)) + QLatin1Char('/') + QLatin1String(name) + QStringLiteral(".png");
}

void ThumbnailStore::save(const Attachment& attachment) const {
  if (m_access == Access::kRead || attachment.thumbnailPng.isEmpty() || attachment.thumbnailPng.size() > kMaxThumbnailBytes) return;
  const QString path = fileOf(attachment);
  if (QFileInfo::exists(path) || !QDir().mkpath(QFileInfo(path).path())) return;
  QSaveFile file(path);
  if (!file.open(QIODevice::WriteOnly) || file.write(attachment.thumbnailPng) != attachment.thumbnailPng.size()) return;
  file.commit();
}

void ThumbnailStore::remove(const Attachment& attachment) const {
  if (m_access != Access::kRead) QFile::remove(fileOf(attachment));
}

QByteArray ThumbnailStore::load(const Attachment& attachment) const {
  QFile file(fileOf(attachment));
  if (!file.open(QIODevice::ReadOnly) || file.size() > kMaxThumbnailBytes) return {};
  return file.read(kMaxThumbnailBytes);
}

}  // namespace winnow::app
