// A model that lies here as a list shows it: what it says of itself, what it needs (memory_need.h says where that fits), and when it was
// used last.
//
// Used by `winnow-cli models` and the window's page of models. Reads documents and headers, no weights. Errors: of a model that cannot be
// read, ListedModel::fault. Touches the disk. Threads: any.
#pragma once

#include <QDateTime>
#include <QHash>
#include <QString>
#include <optional>
#include <string>

#include "app/library/hub/hub_place.h"
#include "app/library/models/found_models.h"
#include "app/library/models/memory_need.h"
#include "app/library/models/model_care.h"
#include "app/library/models/model_folders.h"
#include "engine/api/model_summary.h"

namespace winnow::app {

// The places where models are looked for, and what is done with them.
struct ModelPlaces {
  ModelFolders folders;
  QString data;  // where uses are written down
  MachineMemory memory;
  MoveToTrash trash;
  double (*measure)() = nullptr;  // memoryBytesPerSecond, for what answers soon here; null: nobody measures

  // The places of this user; data: AppFolders::data.
  static ModelPlaces standard(const QString& data, const MachineMemory& memory);
};

struct ListedModel {
  FoundModel found;
  std::optional<ModelSummary> summary{};  // nothing: it cannot be read, or is a speech model
  std::string fault{};                    // why
  MemoryNeed need{};
  QDateTime used;  // invalid: never
};

// uses: modelUses().
ListedModel listedModel(const FoundModel& found, const QHash<QString, QDateTime>& uses);

// A model that was opened by its path, wherever it lies. Nothing: it is gone.
std::optional<FoundModel> openedModel(ModelOrigin origin, const QString& path);

// True if it lies in the hub's cache of that repository and, where one is named, is that quantisation.
bool isOf(const FoundModel& model, const HubName& name);

}  // namespace winnow::app
