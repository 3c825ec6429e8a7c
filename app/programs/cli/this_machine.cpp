#include "app/programs/cli/this_machine.h"

#include "app/chats/settings/app_folders.h"
#include "app/ground/diagnostics/system_report.h"
#include "app/library/gpu/gpu_probe.h"

namespace winnow::cli {

app::MachineMemory this_machine() {
  return {app::memoryBytes(), app::usedGpuBytes(app::GpuPlaces::standard(app::AppFolders::standard().data))};
}

}  // namespace winnow::cli
