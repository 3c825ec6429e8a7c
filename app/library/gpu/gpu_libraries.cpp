#include "app/library/gpu/gpu_libraries.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <algorithm>
#include <numeric>
#include <string_view>

#include "app/ground/resources/bundled_files.h"
#include "app/ground/worker/worker_process.h"
#include "engine/base/json_document.h"
#include "engine/base/replaced_file.h"

namespace winnow::app {
namespace {

constexpr std::size_t kMostTextBytes = 200;
constexpr std::size_t kMostWheels = 100;
constexpr std::int64_t kMostWheelBytes = std::int64_t{1} << 34;

QString stampFile(const QString& folder, const Wheel& wheel) { return QDir(folder).filePath(wheel.file + QStringLiteral(".unpacked")); }

// Names the plug-in to the engine (engine/device/cuda_plugin.h).
constexpr char kPlugInVariable[] = "WINNOW_CUDA_PLUGIN";

}  // namespace

qint64 GpuLibraries::bytes() const {
  return std::accumulate(wheels.begin(), wheels.end(), qint64{0}, [](qint64 sum, const Wheel& each) { return sum + each.bytes; });
}

GpuLibraries gpuLibraries(const QString& resourceFolder) {
  GpuLibraries libraries;
  try {
    const std::string path = QFile::encodeName(resourceFolder + QStringLiteral("/gpu_libraries.json")).toStdString();
    const Json document = load_json(path);
    const JsonObject table(document, path);
    libraries.torch = QString::fromStdString(table.string("torch", kMostTextBytes));
    for (const Json& each : table.list("wheels", kMostWheels)) {
      const JsonObject row(each, path);
      libraries.wheels.push_back({QString::fromStdString(row.string("project", kMostTextBytes)),
                                  QString::fromStdString(row.string("wheel", kMostTextBytes)), row.integer("bytes", 1, kMostWheelBytes),
                                  QByteArray::fromStdString(row.string("sha256", kMostTextBytes))});
    }
  } catch (const Exception&) {
    return {};
  }
  return libraries;
}

QString gpuLibraryFolder(const QString& data, const GpuLibraries& libraries) {
  return QDir(data).absoluteFilePath(QStringLiteral("cuda/torch-") + libraries.torch);
}

bool isUnpacked(const QString& folder, const Wheel& wheel) {
  QFile stamp(stampFile(folder, wheel));
  return stamp.open(QIODevice::ReadOnly) && stamp.read(wheel.sha256.size() + 1) == wheel.sha256;
}

void noteUnpacked(const QString& folder, const Wheel& wheel) {
  ReplacedFile stamp(QFile::encodeName(stampFile(folder, wheel)).toStdString());
  stamp.write(std::string_view(wheel.sha256.constData(), static_cast<std::size_t>(wheel.sha256.size())));
  stamp.commit();
}

bool areUnpacked(const QString& folder, const GpuLibraries& libraries) {
  return !libraries.wheels.empty() && std::ranges::all_of(libraries.wheels, [&](const Wheel& wheel) { return isUnpacked(folder, wheel); });
}

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
