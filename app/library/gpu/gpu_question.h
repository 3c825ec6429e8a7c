// Asks nvidia-smi, which comes with the driver, about this machine's GPU. If it does not answer, there is none.
//
// Used by gpu_probe.h, which does not wait, and by the terminal program, which does. Errors: none. Threads: any.
#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>
#include <chrono>
#include <optional>

#include "app/library/gpu/gpu_places.h"

namespace winnow::app {

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

}  // namespace winnow::app
