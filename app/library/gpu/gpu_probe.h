// Finds out whether this machine has an NVIDIA GPU: one that Winnow uses, with its memory, or one that an installed Winnow could use, and
// what it lacks for it.
//
// Made by bootstrap, for the window's notice and for what fits. Asks nvidia-smi where there is something to say: a Winnow in its source
// tree without a plug-in lacks nothing that it could name, because the launcher builds and fetches what a GPU needs. Errors: none.
// Threads: the UI thread, which never waits.
#pragma once

#include <QByteArray>
#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <QTimer>
#include <chrono>
#include <optional>

#include "app/library/gpu/gpu_libraries.h"

namespace winnow::app {

// Asks nvidia-smi, which comes with the driver, about this machine's GPU. If it does not answer, there is none.
inline constexpr std::chrono::seconds kGpuPatience{10};  // a driver that has to be loaded takes some

struct GpuFacts {
  QString name;      // "NVIDIA GeForce RTX 4090"
  qint64 bytes = 0;  // of its memory; 0: it does not say
};

QStringList gpuQuestion();  // nvidia-smi's arguments
// The GPU with most memory, of several: CUDA puts the fastest first, which is the one that the engine takes.
std::optional<GpuFacts> readGpuAnswer(const QByteArray& output);

// Memory of the GPU that Winnow uses here; 0: it uses none. Waits for nvidia-smi, at most kGpuPatience.
qint64 usedGpuBytes(const GpuPlaces& places);

struct UnusedGpu {
  QString name;  // "NVIDIA GeForce RTX 4090"
  GpuReadiness lack = GpuReadiness::kNoPlugIn;
};

class GpuProbe : public QObject {
  Q_OBJECT
 public:
  explicit GpuProbe(GpuPlaces places, QObject* parent = nullptr);
  ~GpuProbe() override;

  void look();  // again where something has come since

 Q_SIGNALS:
  void found(const winnow::app::UnusedGpu& gpu);
  void used(const winnow::app::GpuFacts& gpu);

 private:
  void answered();

  const GpuPlaces m_places;
  GpuReadiness m_readiness = GpuReadiness::kNoPlugIn;  // when it was asked
  QProcess m_process{this};
  QTimer m_patience;
};

}  // namespace winnow::app
