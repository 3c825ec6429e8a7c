// The kinds of files that the engine reads and writes, for programs that tell such files apart or would write over one.
//
// Errors: Exception; those of engine/model_files/open_package.h. Reads headers only. Threads: plain functions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/base/file_bytes.h"

namespace winnow {

// The files that a model is read from, by name: two models are the same if these are.
// projector: as in LoadModel.
std::vector<std::pair<std::string, RegularFile>> files_of_model(const std::string& path, const std::string& projector = {});

// True if a file is one that SaveConversation, or ExportTurn, has written; false for what cannot be read.
bool is_saved_cache(const std::string& path);
bool is_export(const std::string& path);

}  // namespace winnow
