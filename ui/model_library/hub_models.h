// Models of the hub as the window gets them: those that are known to run, the way to any, and what was on its way when the program ended.
//
// Made by the window program; tests script their own. UI thread only; `unfinished` and `noteUnfinished` touch the disk.
#pragma once

#include <QString>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/library/downloads/download_queue.h"
#include "app/library/downloads/model_download.h"
#include "app/library/hub/hub_place.h"
#include "app/library/models/known_models.h"

namespace winnow::app {
class KeyRing;
}

namespace winnow::ui {

struct HubModels {
  std::vector<app::KnownModel> known;
  QString host;  // of the hub
  std::function<std::unique_ptr<app::ModelDownload>(const app::HubName&)> make;
  std::function<std::vector<app::QueuedDownload>()> unfinished;  // keys: as they were typed
  std::function<void(const std::vector<app::QueuedDownload>&)> noteUnfinished;
  app::KeyRing* keys = nullptr;  // where a token for models that are not for everybody is kept; null: none can be typed
  std::string endpoint{};        // whose token it is
};

}  // namespace winnow::ui
