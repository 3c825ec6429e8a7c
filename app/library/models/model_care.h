// Looking after models on the disk: whether their bytes are still those that were fetched, and moving them to the trash.
//
// Used by `winnow-cli models` and model_shelf.h. Only what carries a hash of its own can be verified: the hub's blobs and Ollama's, which
// are named by it, and Winnow's own. Errors: verify throws Interrupted; what cannot be done is told by what is returned. Touches the disk;
// hashing takes seconds for gigabytes. Threads: any.
#pragma once

#include <QString>
#include <QStringList>
#include <functional>
#include <vector>

#include "app/library/models/found_models.h"
#include "engine/base/interrupt.h"

namespace winnow::app {

struct VerifiedFile {
  enum class State : int { kRight = 1, kDamaged = 2, kUnreadable = 3, kNoHash = 4 };
  QString path;
  State state = State::kNoHash;
};

// Every file of the model: weights, their parts, the projectors beside them, the documents of a folder.
QStringList modelFiles(const FoundModel& model);
std::vector<VerifiedFile> verifyModel(const FoundModel& model, const InterruptToken& interrupt,
                                      const std::function<void(qint64 done, qint64 total)>& progress);

struct RemovedModel {
  enum class State : int {
    kRemoved = 1,
    kNotOurs = 2,      // Ollama's: its own command knows what else uses the files
    kNotPossible = 3,  // nothing or not everything could be moved; `path` says where it ended
  };
  State state = State::kRemoved;
  QString path;      // kNotPossible
  qint64 bytes = 0;  // that lie in the trash now
};

using MoveToTrash = std::function<bool(const QString& path)>;
// The desktop's.
bool moveToTrash(const QString& path);
// `trash`: moveToTrash, or a test's.
RemovedModel removeModel(const FoundModel& model, const MoveToTrash& trash);

}  // namespace winnow::app
