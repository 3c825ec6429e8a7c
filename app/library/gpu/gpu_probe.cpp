#include "app/library/gpu/gpu_probe.h"

#include <utility>

namespace winnow::app {

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
