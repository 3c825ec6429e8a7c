// Everything that the window uses and does not own: made by bootstrap, handed down to the parts of the window that need some of it.
//
// UI thread only.
#pragma once

#include <QString>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "app/chats/settings/settings.h"
#include "app/library/downloads/download_queue.h"
#include "app/library/gpu/gpu_probe.h"
#include "app/media/live/clip_reader.h"
#include "engine/recipes/method_info.h"
#include "ui/composer/media_preview.h"
#include "ui/shell/ground/offered_model.h"

namespace winnow::app {
class ChatStore;
class ConversationCaches;
class EngineHost;
class KeyRing;
struct ModelDownloads;
class ModelFinder;
class ModelShelf;
class ApiServer;
struct RequestDefaults;
}  // namespace winnow::app

namespace winnow::ui {

struct HearingService;
struct HubModels;

// A GPU that could be used, and what it lacks.
struct GpuService {
  app::GpuProbe& probe;
  std::function<qint64()> bytes;  // of the libraries' download
  app::DownloadQueue::Make make;
};

// Begins to serve the engine to other programs, with these where a request says nothing. Throws Exception where that cannot be.
using ServeFunction = std::function<std::unique_ptr<app::ApiServer>(const app::RequestDefaults&)>;

struct WindowServices {
  app::EngineHost& engine;
  app::ChatStore& store;
  app::Settings& settings;
  MediaPreview& preview;
  app::ClipReaderFactory openClips;  // what is watched
  std::vector<MethodInfo> methods;   // list_methods()
  QString version;
  app::KeyRing& keys;                                          // for servers, that are typed
  std::function<QString()> systemReport = nullptr;             // for the clipboard of somebody who reports a fault
  const app::ConversationCaches* caches = nullptr;             // what the engine keeps of chats; null: nothing
  const app::ModelDownloads* downloads = nullptr;              // models that can be had; null: none
  app::ModelFinder* models = nullptr;                          // what lies on this machine; null: nobody looks
  ServeFunction serve = nullptr;                               // null: it cannot be served
  std::function<void(const QString&)> noteModelUse = nullptr;  // for lists of models; null: nobody writes it down
  std::function<std::optional<OfferedModel>()> seeing;         // a model that sees, which can be had; nothing: none fits
  app::ModelShelf* shelf = nullptr;                            // for the page of models, and for what fits; null: there is no such page
  const HubModels* hub = nullptr;                              // likewise
  const GpuService* gpu = nullptr;                             // one that could be used; null: nobody looks
  const HearingService* hearing = nullptr;                     // null: nothing is heard
  app::ConversationCaches* videos = nullptr;                   // what is kept of videos that are asked one by one; null: none are
};

}  // namespace winnow::ui
