// model.safetensors.index.json: which shard holds which tensor; and opening a file that must lie inside the model folder.
//
// Used by weight_folder.h. Shard names are plain file names: no folders, no absolute paths. Errors: Exception kDamagedFile,
// kLimitExceeded, kFileNotFound. No torch. Threads: plain functions.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/base/file_bytes.h"

namespace winnow {

struct ShardIndex {
  std::map<std::string, std::string, std::less<>> shard_of_tensor;  // stored names
  std::set<std::string> shards;                                     // file names, at most 1,024
};

ShardIndex load_shard_index(const std::string& path);

// Whether weights are read from model.safetensors alone, which goes before an index as in transformers.
bool has_single_weight_file(const std::string& folder);
// The names of the files that weights are read from; nothing else in the folder is. Errors: those of the index.
std::vector<std::string> weight_file_names(const std::string& folder);

// folder/name with links followed; kFileUnreadable if that leads out of the folder, except into <entry>/blobs for a folder
// <entry>/snapshots/<revision>, which is how Hugging Face's cache stores files.
RegularFile open_inside(const std::string& folder, const std::string& name);

}  // namespace winnow
