// The memory that models have on this machine, for the commands that say what fits.
//
// If Winnow uses a GPU, it waits for nvidia-smi (app/library/gpu/gpu_probe.h).
#pragma once

#include "app/library/models/memory_need.h"

namespace winnow::cli {

app::MachineMemory this_machine();

}  // namespace winnow::cli
