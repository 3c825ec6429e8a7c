#include "app/library/gpu/gpu_libraries.h"

#include <QDir>
#include <QFile>
#include <algorithm>
#include <numeric>
#include <string_view>

#include "engine/base/json_document.h"
#include "engine/base/replaced_file.h"

namespace winnow::app {
namespace {

constexpr std::size_t kMostTextBytes = 200;
constexpr std::size_t kMostWheels = 100;
constexpr std::int64_t kMostWheelBytes = std::int64_t{1} << 34;

QString stampFile(const QString& folder, const Wheel& wheel) { return QDir(folder).filePath(wheel.file + QStringLiteral(".unpacked")); }

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

}  // namespace winnow::app
