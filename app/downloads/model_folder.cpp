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

}  // namespace winnow::app
