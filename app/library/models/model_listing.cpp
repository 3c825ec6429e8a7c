#include "app/library/models/model_listing.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>

#include "app/library/hub/hub_cache.h"
#include "app/library/hub/hub_choice.h"

namespace winnow::app {

ModelPlaces ModelPlaces::standard(const QString& data, const MachineMemory& memory) {
  return {modelFolders(data, QDir::homePath()), data, memory, moveToTrash, memoryBytesPerSecond};
}

ListedModel listedModel(const FoundModel& found, const QHash<QString, QDateTime>& uses) {
  ListedModel model{.found = found, .used = uses.value(QFileInfo(found.path).absoluteFilePath())};
  if (found.hears) {
    model.need = memoryNeed(found.bytes, 0, 0);
    return model;
  }
  try {
    model.summary = summary_of_model(QFile::encodeName(found.path).toStdString());
  } catch (const Exception& problem) {
    model.fault = problem.error().reason;
    return model;
  }
  model.need = memoryNeed(*model.summary);
  return model;
}

std::optional<FoundModel> openedModel(ModelOrigin origin, const QString& path) {
  const QFileInfo entry(path);
  if (!entry.exists()) return std::nullopt;
  FoundModel model{origin, modelNameOf(path), path};
  const QFileInfoList files = entry.isDir() ? QDir(path).entryInfoList({QStringLiteral("*.safetensors")}, QDir::Files) : QFileInfoList();
  for (const QFileInfo& file : files) model.bytes += file.size();
  for (const QString& part : entry.isDir() ? QStringList() : ggufParts(path)) model.bytes += QFileInfo(part).size();
  return model;
}

bool isOf(const FoundModel& model, const HubName& name) {
  if (!model.path.contains(QLatin1Char('/') + hubFolderName(name.repository) + QLatin1Char('/'))) return false;
  return name.quantisation.isEmpty() || quantisationOf(model.path).compare(name.quantisation, Qt::CaseInsensitive) == 0;
}

}  // namespace winnow::app
