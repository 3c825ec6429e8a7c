// The table of models that are known to run, resources/models.json: what the program offers by name, and which suits this machine.
//
// Used by `winnow-cli get` without a name, by the window's first screen and its page of models. Errors: a table that is missing or damaged
// holds nothing. Touches the disk. Threads: any.
#pragma once

#include <QString>
#include <vector>

#include "app/models/memory_need.h"

namespace winnow::app {

enum class Sight : int { kNothing = 1, kImages = 2, kVideos = 3 };

struct KnownModel {
  QString repository;  // of the hub
  QString name;        // for people
  QString family;
  Sight sight = Sight::kNothing;
  QString licence;
  QString purpose;  // one clause
  qint64 downloadBytes = 0;
  qint64 kvBytesPerToken = 0;
  int tokensPerFrame = 0;
};

inline constexpr int kUsualFrames = 64;

// In the order of the table.
std::vector<KnownModel> knownModels(const QString& resourceFolder);
// While a video of kUsualFrames is read, before self-study keeps 20 % of it; of one that sees nothing for kUsualTokens of text.
MemoryNeed memoryNeed(const KnownModel& model);
// The largest that sees videos and fits the GPU, where tokens are read many times as fast; where none does, the largest that takes at most
// three quarters of the machine's memory. Null: there is none.
const KnownModel* bestThatSees(const std::vector<KnownModel>& models, const MachineMemory& memory);

}  // namespace winnow::app
