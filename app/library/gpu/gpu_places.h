// The files that Winnow needs to use an NVIDIA GPU, and whether they are here: the plug-in beside winnow-engine, and the libraries that it
// calls.
//
// Used by gpu_probe.h and the terminal program. Says nothing of the GPU itself: gpu_question.h. Errors: none. Touches the disk. Threads:
// any.
#pragma once

#include <QString>
#include <functional>

namespace winnow::app {

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
