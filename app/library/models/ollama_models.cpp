#include "app/library/models/ollama_models.h"

#include <QDir>
#include <QStringList>

namespace winnow::app {

QString ollamaName(const QString& manifests, const QString& manifest) {
  QStringList parts = QDir(manifests).relativeFilePath(manifest).split(QLatin1Char('/'));
  const QString tag = parts.takeLast();
  if (parts.size() > 1 && parts.first() == QLatin1String("registry.ollama.ai")) parts.removeFirst();
  if (parts.size() > 1 && parts.first() == QLatin1String("library")) parts.removeFirst();
  return parts.join(QLatin1Char('/')) + QLatin1Char(':') + tag;
}

}  // namespace winnow::app
