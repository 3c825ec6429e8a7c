#include "app/cli/this_machine.h"

#include "app/diagnostics/system_report.h"
#include "app/gpu/gpu_question.h"
#include "app/settings/app_folders.h"

namespace winnow::cli {

app::MachineMemory this_machine() {
  return {app::memoryBytes(), app::usedGpuBytes(app::GpuPlaces::standard(app::AppFolders::standard().data))};
}

}  // namespace winnow::cli
