// The table of models that are known to run, resources/models.json: what the program offers by name, and which suits this machine.
//
// Used by `winnow-cli get` without a name, by the window's first screen and its page of models. Errors: a table that is missing or damaged
// holds nothing. Touches the disk. Threads: any.
#pragma once

#include <QString>
#include <optional>
#include <vector>

#include "app/library/models/memory_need.h"

namespace winnow::app {

enum class Sight : int { kNothing = 1, kImages = 2, kVideos = 3 };

struct KnownModel {
  QString repository{};  // of the hub
  QString name{};        // for people
  QString family{};
  Sight sight = Sight::kNothing;
  QString licence{};
  QString purpose{};  // one clause
  qint64 downloadBytes = 0;
  qint64 activeBytes = 0;  // of a mixture of experts: those of them that one token reads; 0: all
  qint64 kvBytesPerToken = 0;
  int tokensPerFrame = 0;
};

inline constexpr int kUsualFrames = 64;

// In the order of the table.
std::vector<KnownModel> knownModels(const QString& resourceFolder);
// While a video of kUsualFrames is read, before self-study keeps 20 % of it; of one that sees nothing for kUsualTokens of text.
MemoryNeed memoryNeed(const KnownModel& model);
// How many words an answer gains in a second where the model does not fit the GPU. Nothing: it does, or nobody has measured.
std::optional<double> wordsPerSecond(const KnownModel& model, const MachineMemory& memory);
// About as fast as people read aloud; with less an answer of some sentences takes minutes.
inline constexpr double kReadableWordsPerSecond = 5.0;
// The largest that sees videos and fits the GPU, where tokens are read many times as fast. Where none does, of those that take at most
// three quarters of the machine's memory the largest that writes kReadableWordsPerSecond, or the fastest. Null: there is none.
const KnownModel* bestThatSees(const std::vector<KnownModel>& models, const MachineMemory& memory);

}  // namespace winnow::app
