#include "app/downloads/model_folder.h"

#include <QDir>
#include <QFileInfo>

namespace winnow::app {

QString modelsFolder(const QString& data) { return QDir(data).absoluteFilePath(QStringLiteral("models")); }

QString offeredFile(const QString& folder, const ModelOffer& offer) { return QDir(folder).absoluteFilePath(offer.fileName()); }

bool isFetched(const QString& folder, const ModelOffer& offer) {
  const QFileInfo file(offeredFile(folder, offer));
  return file.isFile() && file.size() == offer.fileBytes;
}

QStringList modelsIn(const QString& folder) {
  QStringList models;
  const QFileInfoList entries = QDir(folder).entryInfoList(QDir::Files | QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name | QDir::IgnoreCase);
  for (const QFileInfo& entry : entries) {
    const bool isModel = entry.isDir() ? QFileInfo(QDir(entry.filePath()), QStringLiteral("config.json")).isFile()
                                       : entry.suffix().compare(QLatin1String("gguf"), Qt::CaseInsensitive) == 0;
    if (isModel) models.append(entry.absoluteFilePath());
  }
  return models;
}

}  // namespace winnow::app
