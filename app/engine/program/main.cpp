// winnow-engine: the engine for the program that started it (app/engine/process/process_engine.h). Descriptor 3 is the channel.
#include <QCoreApplication>
#include <QFile>
#include <utility>

#include "app/chats/settings/app_folders.h"
#include "app/chats/settings/speed_file.h"
#include "app/engine/process/engine_service.h"
#include "app/ground/process/process_start.h"
#include "app/ground/resources/bundled_files.h"
#include "app/ground/worker/worker_process.h"
#include "app/library/gpu/gpu_libraries.h"
#include "app/media/process/process_media_reader.h"

int main(int argc, char** argv) {
  using namespace winnow;
  app::beginProcess();
  app::OpenFile channel = app::channelOfThisWorker("winnow-engine");
  if (!channel) return 2;
  const QCoreApplication qt(argc, argv);
  app::keepDecimalPoint();
  app::Passwords passwords;
  const std::unique_ptr<app::MediaReader> reader = app::makeMediaReader(false, &passwords);
  const app::AppFolders folders = app::AppFolders::standard();
  app::SpeedFile speeds(folders.cache);
  // They may come while this process runs: the engine looks when a model is loaded.
  if (qEnvironmentVariableIsEmpty(app::kGpuLibraryVariable)) {
    const QString libraries = app::gpuLibraryFolder(folders.data, app::gpuLibraries(app::resourceFolder()));
    qputenv(app::kGpuLibraryVariable, QFile::encodeName(libraries));
  }
  app::serveEngine(
      std::move(channel), [&] { return make_engine(reader.get(), &speeds); }, passwords);
}
