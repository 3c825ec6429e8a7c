#include "app/gpu/gpu_probe.h"

#include <QDir>
#include <QFileInfo>
#include <chrono>
#include <utility>

namespace winnow::app {
namespace {

constexpr std::chrono::seconds kPatience{10};  // a driver that has to be loaded takes some
constexpr int kMostNameChars = 100;

}  // namespace

GpuProbe::GpuProbe(Places places, QObject* parent) : QObject(parent), m_places(std::move(places)) {
  m_patience.setSingleShot(true);
  m_patience.setInterval(kPatience);
  connect(&m_patience, &QTimer::timeout, &m_process, &QProcess::kill);
  connect(&m_process, &QProcess::finished, this, &GpuProbe::answered);
}

GpuProbe::~GpuProbe() {
  m_process.disconnect(this);
  m_process.kill();
  m_process.waitForFinished();
}

void GpuProbe::look() {
  const bool installed = QDir::cleanPath(m_places.engineFolder).endsWith(QStringLiteral("/lib/winnow"));
  if (!installed || m_places.plugInIsNamed || m_process.state() != QProcess::NotRunning) return;
  m_process.start(m_places.question, {QStringLiteral("--query-gpu=name"), QStringLiteral("--format=csv,noheader")}, QProcess::ReadOnly);
  m_patience.start();
}

void GpuProbe::answered() {
  m_patience.stop();
  if (m_process.exitStatus() != QProcess::NormalExit || m_process.exitCode() != 0) return;
  const QString first = QString::fromUtf8(m_process.readAllStandardOutput()).section(QLatin1Char('\n'), 0, 0).trimmed();
  if (first.isEmpty()) return;
  const QString name = first.left(kMostNameChars);
  if (!QFileInfo(QDir(m_places.engineFolder), QLatin1String(kGpuPlugInFile)).isFile()) {
    if (QDir::cleanPath(m_places.engineFolder) == m_places.packageFolder) Q_EMIT found({name, GpuLack::kPlugIn});
  } else if (!m_places.librariesAreHere()) {
    Q_EMIT found({name, GpuLack::kLibraries});
  }
}

}  // namespace winnow::app
