// Files that a person names for a command to write: nothing that it reads, and nothing of somebody else's, is written over.
//
// Asked before the model is loaded. Errors: Exception; kInvalidArgument for what is left as it is, kFileUnreadable for what cannot be
// written at all. Main thread only.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/programs/cli/turn_options.h"

namespace winnow::cli {

// The inputs of a turn: media, recipe, the files of the model's folder.
std::vector<std::string> inputs_of(const TurnOptions& options, const std::string& model_folder);

// If there is a file that holds something, it has to be what the command itself writes: a saved cache, an export.
void require_cache_target(const std::string& path, std::span<const std::string> inputs);
void require_export_target(const std::string& path, std::span<const std::string> inputs);

}  // namespace winnow::cli
