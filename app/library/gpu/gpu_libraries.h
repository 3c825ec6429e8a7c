// libtorch's and NVIDIA's CUDA libraries, which no package may carry: which wheels of PyPI hold them, and whether they are here.
//
// Used by gpu_library_fetch.h, by the window's notice and by winnow-engine, which names their folder to the engine
// (engine/device/cuda_libraries.h). The table is resources/gpu_libraries.json; its hashes are those of packaging/deps. They lie under the
// data folder as the wheels lay them out. Errors: a table that is missing or damaged names nothing. Touches the disk. Threads: any.
#pragma once

#include <QString>
#include <vector>

#include "app/library/downloads/wheel_steps.h"

namespace winnow::app {

// Names their folder to the engine.
inline constexpr const char* kGpuLibraryVariable = "WINNOW_CUDA_LIBRARIES";

struct GpuLibraries {
  QString torch;  // version
  std::vector<Wheel> wheels;

  qint64 bytes() const;  // of all wheels
};

GpuLibraries gpuLibraries(const QString& resourceFolder);
// The folder of those of one libtorch. `data`: AppFolders::data.
QString gpuLibraryFolder(const QString& data, const GpuLibraries& libraries);
// This wheel has been unpacked there.
bool isUnpacked(const QString& folder, const Wheel& wheel);
void noteUnpacked(const QString& folder, const Wheel& wheel);
// All of them, at least one.
bool areUnpacked(const QString& folder, const GpuLibraries& libraries);

}  // namespace winnow::app
