// Models that lie on this machine already, found where they are: nothing is copied, changed or loaded.
//
// Used by model_finder.h. GGUF files that begin as such (no projectors of pictures, of split files the first if all parts are there),
// folders whose config.json names a family that the engine runs, Ollama's tags, and models that hear: folders of Whisper and files of
// whisper.cpp. Searched in a bounded number of entries, levels and
// bytes; links are followed, never in a circle; what cannot be read is left out. Nothing throws but Interrupted. Touches the disk.
// Threads: any.
#pragma once

#include <QString>
#include <QStringList>
#include <vector>

#include "app/library/models/model_folders.h"
#include "engine/base/interrupt.h"

namespace winnow::app {

struct FoundModel {
  ModelOrigin origin = ModelOrigin::kWinnow;
  QString name;      // as its program calls it: "llama3.2:3b", "owner/name", or the file's
  QString path;      // what the engine loads: a folder or a GGUF file
  qint64 bytes = 0;  // of weights on the disk
  bool sees = false;
  bool readsVideos = false;
  bool hears = false;  // a speech model, which answers nothing

  friend bool operator==(const FoundModel&, const FoundModel&) = default;
};

inline constexpr std::size_t kMostFoundModels = 200;

// By origin in the order of `folders`, then by name; each file once.
std::vector<FoundModel> findModels(const ModelFolders& folders, const InterruptToken& interrupt);

// The files on a disk that make one GGUF model: its parts, and the projectors of pictures beside it.
//
// Looking beside touches the disk.

// All parts of a split model by its first part, there or not; a file that is not split is its only part. Empty: a later part.
QStringList ggufParts(const QString& path);
QStringList projectorsBeside(const QString& path);

}  // namespace winnow::app
