#include "app/library/gpu/gpu_probe.h"

#include <utility>

namespace winnow::app {
namespace {

constexpr int kMostNameChars = 100;
constexpr qint64 kMebibyte = qint64{1} << 20;
constexpr qint64 kMostMebibytes = qint64{1} << 24;

// "NVIDIA GeForce RTX 4090, 24564"; of a GPU without memory of its own "[N/A]" behind the comma.
std::optional<GpuFacts> readLine(const QString& line) {
  const qsizetype comma = line.lastIndexOf(QLatin1Char(','));
  const QString name = line.left(comma).trimmed().left(kMostNameChars);
  if (comma < 0 || name.isEmpty()) return std::nullopt;
  const qint64 mebibytes = line.mid(comma + 1).trimmed().toLongLong();  // 0 of what is no number
  return GpuFacts{name, mebibytes > 0 && mebibytes <= kMostMebibytes ? mebibytes * kMebibyte : 0};
}

}  // namespace

QStringList gpuQuestion() { return {QStringLiteral("--query-gpu=name,memory.total"), QStringLiteral("--format=csv,noheader,nounits")}; }

std::optional<GpuFacts> readGpuAnswer(const QByteArray& output) {
  std::optional<GpuFacts> largest;
  for (const QByteArray& line : output.split('\n')) {
    const std::optional<GpuFacts> gpu = readLine(QString::fromUtf8(line));
    if (gpu && (!largest || gpu->bytes > largest->bytes)) largest = gpu;
  }
  return largest;
}

qint64 usedGpuBytes(const GpuPlaces& places) {
  if (places.readiness() != GpuReadiness::kReady) return 0;
  QProcess process;
  process.start(places.question, gpuQuestion(), QProcess::ReadOnly);
  const bool ended = process.waitForFinished(static_cast<int>(std::chrono::milliseconds(kGpuPatience).count()));
  if (!ended) process.kill();
  if (!ended || process.exitStatus() != QProcess::NormalExit || process.exitCode() != 0) return 0;
  const std::optional<GpuFacts> gpu = readGpuAnswer(process.readAllStandardOutput());
  return gpu ? gpu->bytes : 0;
}

GpuProbe::GpuProbe(GpuPlaces places, QObject* parent) : QObject(parent), m_places(std::move(places)) {
  m_patience.setSingleShot(true);
  m_patience.setInterval(kGpuPatience);
  connect(&m_patience, &QTimer::timeout, &m_process, &QProcess::kill);
  connect(&m_process, &QProcess::finished, this, &GpuProbe::answered);
}

GpuProbe::~GpuProbe() {
  m_process.disconnect(this);
  m_process.kill();
  m_process.waitForFinished();
}

void GpuProbe::look() {
  if (m_process.state() != QProcess::NotRunning) return;
  m_readiness = m_places.readiness();
  const bool packageIsMissing = m_places.isPackaged() && m_places.namedPlugIn.isEmpty();
  if (m_readiness == GpuReadiness::kNoPlugIn && !packageIsMissing) return;
  m_process.start(m_places.question, gpuQuestion(), QProcess::ReadOnly);
  m_patience.start();
}

void GpuProbe::answered() {
  m_patience.stop();
  if (m_process.exitStatus() != QProcess::NormalExit || m_process.exitCode() != 0) return;
  const std::optional<GpuFacts> gpu = readGpuAnswer(m_process.readAllStandardOutput());
  if (!gpu) return;
  if (m_readiness == GpuReadiness::kReady) {
    Q_EMIT used(*gpu);
  } else {
    Q_EMIT found({gpu->name, m_readiness});
  }
}

}  // namespace winnow::app
