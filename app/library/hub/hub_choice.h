// Which files of a repository make the model that was asked for: the GGUF file of a quantisation with its projector and all its parts, or
// the folder that the engine reads. Never code, never pickle, never what nobody reads.
//
// Used by hub_fetch.h. Errors: DownloadError; kNoSuchFile, kAmbiguous, kTooLarge (with what there is instead), kNotReadable. Threads: any.
#pragma once

#include <QString>
#include <QStringList>
#include <vector>

#include "app/library/downloads/model_download.h"
#include "app/library/hub/hub_repository.h"

namespace winnow::app {

struct HubSelection {
  std::vector<HubFile> files;  // a file may be in it under two names: beside the model, and where the repository has it
  QString opened;              // of the snapshot: the GGUF file, its first part; empty: the folder itself
  DownloadChoice choice;       // without `bytes` where shards are not known yet
};

// `quantisation`: as typed; empty: the one that suits a machine with so much memory (0: not known).
HubSelection chooseHubFiles(const std::vector<HubFile>& files, const QString& quantisation, qint64 memoryBytes);

// For a folder in shards: the files of `files` that its index names. `index`: the text of model.safetensors.index.json.
std::vector<HubFile> shardsOf(const QByteArray& index, const std::vector<HubFile>& files);
inline constexpr char kShardIndexName[] = "model.safetensors.index.json";
const HubFile* findHubFile(const std::vector<HubFile>& files, const QString& path);  // null: there is none

// "Q4_K_M" of a file's name; empty: it names none.
QString quantisationOf(const QString& path);

}  // namespace winnow::app
