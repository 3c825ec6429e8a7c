// winnow-engine: the engine for the program that started it (app/worker/process_engine.h). Descriptor 3 is the channel.
#include <sys/socket.h>

#include <QCoreApplication>
#include <cstdio>

#include "app/media_process/process_media_reader.h"
#include "app/process/process_start.h"
#include "app/settings/app_folders.h"
#include "app/settings/speed_file.h"
#include "app/worker/engine_service.h"
#include "app/worker/worker_process.h"

int main(int argc, char** argv) {
  using namespace winnow;
  app::beginProcess();
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(app::WorkerProcess::kChannelDescriptor, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_STREAM) {
    std::fputs("winnow-engine: is started by winnow and winnow-cli, not by hand\n", stderr);
    return 2;
  }
  const QCoreApplication qt(argc, argv);
  app::keepDecimalPoint();
  const std::unique_ptr<app::MediaReader> reader = app::makeMediaReader(false);
  app::SpeedFile speeds(app::AppFolders::standard().cache);
  app::serveEngine(app::OpenFile(app::WorkerProcess::kChannelDescriptor), [&] { return make_engine(reader.get(), &speeds); });
}
