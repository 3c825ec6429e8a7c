// The times that this machine has needed for earlier turns, in a small JSON file of the cache folder (speed.json), so that the first plan
// after a start can already name a wait.
//
// Given to the engine by bootstrap and the terminal program; called on the engine's thread only. A file that is missing, damaged or cannot
// be written counts as nothing measured: nobody's question fails for it. Two programs at a time overwrite each other's newest figures, no
// more.
#pragma once

#include <QString>

#include "engine/metrics/machine_speed.h"

namespace winnow::app {

class SpeedFile final : public SpeedMemory {
 public:
  explicit SpeedFile(QString cacheFolder);

  MachineSpeed recall(const std::string& key) override;
  void keep(const std::string& key, const MachineSpeed& speed) override;

 private:
  const QString m_folder;
};

}  // namespace winnow::app
