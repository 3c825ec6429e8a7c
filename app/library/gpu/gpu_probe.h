// Finds out whether this machine has an NVIDIA GPU: one that Winnow uses, with its memory, or one that an installed Winnow could use, and
// what it lacks for it.
//
// Made by bootstrap, for the window's notice and for what fits. Asks nvidia-smi where there is something to say: a Winnow in its source
// tree without a plug-in lacks nothing that it could name, because the launcher builds and fetches what a GPU needs. Errors: none.
// Threads: the UI thread, which never waits.
#pragma once

#include <QObject>
#include <QProcess>
#include <QString>
#include <QTimer>

#include "app/library/gpu/gpu_places.h"
#include "app/library/gpu/gpu_question.h"

namespace winnow::app {

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
