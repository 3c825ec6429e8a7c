// What the engine reads and writes as files, for programs that tell such files apart or would write over one.
//
// Errors: Exception; those of engine/weights/weight_files.h. Reads headers only. Threads: plain functions.
#pragma once

#include <string>
#include <vector>

#include "engine/base/file_bytes.h"

namespace winnow {

// The names of the files in a model folder that its weights are read from.
std::vector<std::string> weight_files_of(const std::string& folder);

// A file of a model folder, which must not lead out of it.
RegularFile open_model_file(const std::string& folder, const std::string& name);

// Whether a file is one that SaveConversation, or ExportTurn, has written; false for what cannot be read.
bool is_saved_cache(const std::string& path);
bool is_export(const std::string& path);

}  // namespace winnow
