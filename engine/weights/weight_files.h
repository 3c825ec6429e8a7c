// Which files of a Hugging Face folder weights are read from, and opening them.
//
// Used by model_files/hugging_face_folder.h. Finds model.safetensors, or the shards that model.safetensors.index.json names, and checks all
// headers before anything is loaded. Folders that hold only pickles, GGUF or ONNX are refused with advice; no unpickler exists in this
// program. Shard names are plain file names: no folders, no absolute paths. A file must lie in the folder; a link may lead out of it only
// into the blobs/ folder of the same Hugging Face cache entry (<entry>/snapshots/<revision>). Errors: Exception kFileNotFound,
// kFileUnreadable, kUnsupportedFormat, kDamagedFile, kLimitExceeded. No torch. Threads: plain functions.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/base/file_bytes.h"
#include "engine/weights/tensor_file.h"

namespace winnow {

struct ShardIndex {
  std::map<std::string, std::string, std::less<>> shard_of_tensor;  // stored names
  std::set<std::string> shards;                                     // file names, at most 1,024
};

ShardIndex load_shard_index(const std::string& path);

// Reads headers only. model.safetensors goes before an index, as in transformers.
TensorFiles open_weight_files(const std::string& folder);
// The names of the files that weights are read from; nothing else in the folder is. Errors: those of the index.
std::vector<std::string> weight_file_names(const std::string& folder);

// folder/name, if it does not lead out of the folder once links are followed (else kFileUnreadable): a model from an archive must not put a
// file of this machine into a prompt. Links into <entry>/blobs of a folder <entry>/snapshots/<revision> are allowed: Hugging Face's cache
// stores files so.
std::string path_inside(const std::string& folder, const std::string& name);
RegularFile open_inside(const std::string& folder, const std::string& name);

}  // namespace winnow
