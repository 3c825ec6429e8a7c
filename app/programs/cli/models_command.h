// `winnow-cli models`: what lies on this machine, whether it fits, whether its bytes are right, and the way to the trash.
//
// Declared apart from commands.h because it takes where it looks: tests have folders of their own. Nothing is loaded.
#pragma once

#include <string>

#include "app/library/models/memory_need.h"
#include "app/library/models/model_listing.h"
#include "app/programs/cli/commands.h"
#include "app/programs/cli/exit_status.h"

namespace winnow::cli {

struct ModelsOptions : CommandOptions {
  std::string action;  // "verify", "remove"; empty: list
  std::string named;   // a name in the list, or a path
};

ExitStatus run_models(const ModelsOptions& options, const app::ModelPlaces& places);

// The memory that models have on this machine, for the commands that say what fits.
//
// If Winnow uses a GPU, it waits for nvidia-smi (app/library/gpu/gpu_probe.h).
app::MachineMemory this_machine();

}  // namespace winnow::cli
