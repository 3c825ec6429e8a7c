// Models of the hub as the window gets them: those that are known to run, the way to any, and what was on its way when the program ended.
//
// Made by the window program; tests script their own. UI thread only; `unfinished` and `noteUnfinished` touch the disk.
#pragma once

#include <QString>
#include <QStringList>
#include <functional>
#include <memory>
#include <vector>

#include "app/downloads/model_download.h"
#include "app/hub/hub_name.h"
#include "app/models/known_models.h"

namespace winnow::ui {

struct HubModels {
  std::vector<app::KnownModel> known;
  QString host;  // of the hub
  std::function<std::unique_ptr<app::ModelDownload>(const app::HubName&)> make;
  std::function<QStringList()> unfinished;  // as it was typed
  std::function<void(const QStringList&)> noteUnfinished;
};

}  // namespace winnow::ui
