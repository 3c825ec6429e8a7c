// The places of models on a machine: the folders of programs that people download them with, and what a model is called by its place alone.
//
// Used by found_models.h and by the window's menu. Nothing is read from the disk. Threads: any.
#pragma once

#include <QString>
#include <utility>
#include <vector>

namespace winnow::app {

// kDemo: comes with Winnow; kOpened: by its path, from anywhere. Neither has a folder that is looked into.
enum class ModelOrigin : int { kWinnow = 1, kOllama = 2, kLmStudio = 3, kHuggingFace = 4, kJan = 5, kGpt4All = 6, kDemo = 7, kOpened = 8 };

// In the order in which they are looked into; those that do not exist hold nothing.
using ModelFolders = std::vector<std::pair<ModelOrigin, QString>>;

// winnowData: Winnow's own data folder. The variables that move the others' folders are heeded: OLLAMA_MODELS, HF_HUB_CACHE, HF_HOME,
// XDG_CACHE_HOME, XDG_DATA_HOME.
ModelFolders modelFolders(const QString& winnowData, const QString& home);

// A GGUF file's without its ending and part; of a snapshot in a Hugging Face cache "owner/name"; else the last part of the path.
QString modelNameOf(const QString& path);

}  // namespace winnow::app
