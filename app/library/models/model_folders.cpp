#include "app/library/models/model_folders.h"

#include <QDir>
#include <QFileInfo>
#include <QRegularExpression>
#include <QStringList>

#include "app/ground/process/path_variable.h"
#include "app/library/hub/hub_cache.h"
#include "app/library/hub/hub_place.h"

namespace winnow::app {
namespace {

QString orElse(const QString& value, const QString& otherwise) { return value.isEmpty() ? otherwise : value; }

}  // namespace

ModelFolders modelFolders(const QString& winnowData, const QString& home) {
  const QString data = orElse(pathVariable("XDG_DATA_HOME"), home + QStringLiteral("/.local/share"));
  ModelFolders folders{{ModelOrigin::kWinnow, winnowData + QStringLiteral("/models")}};
  if (const QString moved = pathVariable("OLLAMA_MODELS"); !moved.isEmpty()) folders.emplace_back(ModelOrigin::kOllama, moved);
  folders.emplace_back(ModelOrigin::kOllama, home + QStringLiteral("/.ollama/models"));
  folders.emplace_back(ModelOrigin::kOllama, QStringLiteral("/usr/share/ollama/.ollama/models"));
  folders.emplace_back(ModelOrigin::kLmStudio, home + QStringLiteral("/.lmstudio/models"));
  folders.emplace_back(ModelOrigin::kLmStudio, home + QStringLiteral("/.cache/lm-studio/models"));
  folders.emplace_back(ModelOrigin::kHuggingFace, hubCacheFolder(home));
  folders.emplace_back(ModelOrigin::kJan, home + QStringLiteral("/jan/models"));
  folders.emplace_back(ModelOrigin::kJan, data + QStringLiteral("/Jan/data/llamacpp/models"));
  folders.emplace_back(ModelOrigin::kGpt4All, data + QStringLiteral("/nomic.ai/GPT4All"));
  return folders;
}

QString modelNameOf(const QString& path) {
  const QStringList parts = QDir::cleanPath(path).split(QLatin1Char('/'), Qt::SkipEmptyParts);
  if (parts.isEmpty()) return {};
  const QString& last = parts.last();
  if (last.endsWith(QLatin1String(".gguf"), Qt::CaseInsensitive)) {
    static const QRegularExpression part(QStringLiteral("-\\d{5}-of-\\d{5}$"));
    return QFileInfo(last).completeBaseName().remove(part);
  }
  constexpr qsizetype kRepository = 3;  // models--<owner>--<name>/snapshots/<revision>, from the end
  if (parts.size() < kRepository || parts[parts.size() - 2] != QLatin1String("snapshots")) return last;
  const QString repository = hubRepositoryOf(parts[parts.size() - kRepository]);
  return repository.isEmpty() ? last : repository;
}

}  // namespace winnow::app
