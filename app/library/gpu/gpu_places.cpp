#include "app/library/gpu/gpu_places.h"

#include <QDir>
#include <QFileInfo>

#include "app/ground/resources/bundled_files.h"
#include "app/ground/worker/worker_process.h"
#include "app/library/gpu/gpu_libraries.h"

namespace winnow::app {
namespace {

// Names the plug-in to the engine (engine/device/cuda_plugin.h).
constexpr char kPlugInVariable[] = "WINNOW_CUDA_PLUGIN";

}  // namespace

GpuPlaces GpuPlaces::standard(const QString& data) {
  GpuPlaces places;
  places.engineFolder = QFileInfo(QString::fromStdString(workerProgram("winnow-engine"))).path();
  places.namedPlugIn = QFile::decodeName(qgetenv(kPlugInVariable));
  places.librariesAreHere = [data] {
    if (!qEnvironmentVariableIsEmpty(kGpuLibraryVariable)) return true;  // somebody else's, whom the engine believes
    const GpuLibraries libraries = gpuLibraries(resourceFolder());
    return areUnpacked(gpuLibraryFolder(data, libraries), libraries);
  };
  return places;
}

bool GpuPlaces::isInstalled() const { return QDir::cleanPath(engineFolder).endsWith(QStringLiteral("/lib/winnow")); }
bool GpuPlaces::isPackaged() const { return QDir::cleanPath(engineFolder) == packageFolder; }

GpuReadiness GpuPlaces::readiness() const {
  if (!namedPlugIn.isEmpty()) return QFileInfo(namedPlugIn).isFile() ? GpuReadiness::kReady : GpuReadiness::kNoPlugIn;
  if (!QFileInfo(QDir(engineFolder), QLatin1String(kGpuPlugInFile)).isFile()) return GpuReadiness::kNoPlugIn;
  return !isInstalled() || librariesAreHere() ? GpuReadiness::kReady : GpuReadiness::kNoLibraries;
}

}  // namespace winnow::app
