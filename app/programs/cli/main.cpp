// winnow-cli: the process around the terminal program (app/programs/cli/program.h).
#include <QCoreApplication>

#include "app/chats/settings/app_folders.h"
#include "app/engine/source/in_process_option.h"
#include "app/ground/process/process_start.h"
#include "app/media/process/kernel_sandbox.h"
#include "app/programs/cli/media_reading.h"
#include "app/programs/cli/program.h"

int main(int argc, char** argv) {
  using namespace winnow;
  app::beginProcess();
  if (app::followInProcessOption(argc, argv)) cli::read_media_in_process();
  app::followRequireSandboxOption(argc, argv);
  QCoreApplication qt(argc, argv);
  app::keepDecimalPoint();
  cli::speak_english(qt);
  app::makePrivate(app::AppFolders::standard());
  return static_cast<int>(cli::run_program(argc, argv));
}
