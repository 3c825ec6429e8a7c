// The files that Winnow needs to use an NVIDIA GPU, and whether they are here: the plug-in beside winnow-engine, and libtorch's and
// NVIDIA's CUDA libraries, which no package may carry.
//
// Used by gpu_library_fetch.h, gpu_probe.h, the terminal program and winnow-engine, which names the libraries' folder to the engine
// (engine/device/cuda_libraries.h). The table of the wheels of PyPI that hold them is resources/gpu_libraries.json; its hashes are those of
// packaging/deps. They lie under the data folder as the wheels lay them out. Errors: a table that is missing or damaged names nothing.
// Touches the disk. Threads: any.
#pragma once

#include <QString>
#include <functional>
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

// The files that Winnow needs to use an NVIDIA GPU, and whether they are here: the plug-in beside winnow-engine, and the libraries that it
// calls.
//
// Says nothing of the GPU itself: gpu_probe.h. Touches the disk.
inline constexpr const char* kGpuPlugInFile = "libwinnow_cuda.so";

enum class GpuReadiness : int {
  kReady = 1,
  kNoPlugIn = 2,     // libwinnow_cuda.so: a package of its own
  kNoLibraries = 3,  // NVIDIA's and libtorch's, which the plug-in calls
};

struct GpuPlaces {
  QString engineFolder;  // of winnow-engine; the plug-in lies beside it
  QString namedPlugIn;   // by WINNOW_CUDA_PLUGIN, in its place; empty: by nobody
  // Asked where Winnow is installed and the plug-in is there; in a source tree the launcher brings them.
  std::function<bool()> librariesAreHere;
  QString question = QStringLiteral("nvidia-smi");
  // The folder where a .deb puts winnow-engine. Only there a missing plug-in is reported: a package brings it, and there is none for a
  // tarball.
  QString packageFolder = QStringLiteral("/usr/lib/winnow");

  // data: AppFolders::data.
  static GpuPlaces standard(const QString& data);

  bool isInstalled() const;
  bool isPackaged() const;
  // Who names a plug-in sees to its libraries.
  GpuReadiness readiness() const;
};

}  // namespace winnow::app
