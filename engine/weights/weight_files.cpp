#include "engine/weights/weight_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "engine/base/error.h"
#include "engine/base/json_document.h"
#include "engine/weights/foreign_format.h"
#include "engine/weights/safetensors.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

constexpr char kShardIndex[] = "model.safetensors.index.json";
constexpr std::size_t kMaxShards = 1024;
constexpr std::size_t kMaxFileNameBytes = 255;
constexpr JsonLimits kIndexLimits = {.max_bytes = std::uint64_t{16} << 20, .max_depth = 8, .max_elements = 2 * kMaxTensors};

bool plain_file_name(const std::string& name) {
  const auto bad = [](unsigned char c) { return c < 0x20 || c == '/' || c == '\\' || c == ':'; };
  return name.size() <= kMaxFileNameBytes && name.ends_with(".safetensors") && !name.starts_with('.') && std::ranges::none_of(name, bad);
}

bool beneath(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

bool has_single_weight_file(const std::string& folder) {
  std::error_code error;
  return fs::exists(fs::symlink_status(folder + "/model.safetensors", error));
}

// The index and the shards say the same of every tensor.
void check_shard(const TensorFile& shard, const std::string& name, const ShardIndex& index) {
  for (const auto& [tensor, stored] : shard.tensors()) {
    const auto mapped = index.shard_of_tensor.find(tensor);
    if (mapped == index.shard_of_tensor.end()) {
      throw Exception(ErrorCode::kDamagedFile, shard.path() + ": " + tensor, "the index does not list this tensor");
    }
    if (mapped->second != name) {
      throw Exception(ErrorCode::kDamagedFile, shard.path() + ": " + tensor, "the index places this tensor in another shard");
    }
  }
  const auto here = std::ranges::count_if(index.shard_of_tensor, [&](const auto& entry) { return entry.second == name; });
  if (std::ssize(shard.tensors()) != here) {
    throw Exception(ErrorCode::kDamagedFile, shard.path(), "the index lists tensors that the shard does not have");
  }
}

}  // namespace

ShardIndex load_shard_index(const std::string& path) {
  const Json document = load_json(path, kIndexLimits);
  const JsonObject root(document, path);
  const Json& map = root.value("weight_map");
  if (!map.is_object() || map.empty()) root.refuse(ErrorCode::kDamagedFile, "weight_map", "it must be a JSON object with entries");
  if (map.size() > kMaxTensors) {
    root.refuse(ErrorCode::kLimitExceeded, "weight_map", "more than " + std::to_string(kMaxTensors) + " tensors");
  }
  ShardIndex index;
  for (const auto& [tensor, shard] : map.items()) {
    if (!shard.is_string()) root.refuse(ErrorCode::kDamagedFile, "weight_map", "a shard name that is not a string");
    const std::string& name = shard.get_ref<const std::string&>();
    if (!plain_file_name(name)) {
      root.refuse(ErrorCode::kDamagedFile, "weight_map", "a shard name that is not a plain .safetensors file name");
    }
    index.shard_of_tensor.emplace(tensor, name);
    index.shards.insert(name);
    if (index.shards.size() > kMaxShards) {
      root.refuse(ErrorCode::kLimitExceeded, "weight_map", "more than " + std::to_string(kMaxShards) + " shards");
    }
  }
  return index;
}

std::vector<std::string> weight_file_names(const std::string& folder) {
  if (has_single_weight_file(folder)) return {"model.safetensors"};
  const ShardIndex index = load_shard_index(path_inside(folder, kShardIndex));
  return {index.shards.begin(), index.shards.end()};
}

TensorFiles open_weight_files(const std::string& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (!fs::exists(status)) throw Exception(ErrorCode::kFileNotFound, folder, "the model folder does not exist");
  if (!fs::is_directory(status)) throw Exception(ErrorCode::kFileUnreadable, folder, "a model is a folder, this is not one");
  TensorFiles opened{folder, {}};
  if (has_single_weight_file(folder)) {
    opened.files.push_back(std::make_shared<SafetensorsFile>(open_inside(folder, "model.safetensors")));
    return opened;
  }
  const std::string index_path = folder + "/" + kShardIndex;
  if (!fs::exists(fs::symlink_status(index_path, error))) {
    refuse_foreign_folder(folder);
    throw Exception(ErrorCode::kFileNotFound, folder + "/model.safetensors",
                    "the folder has neither model.safetensors nor model.safetensors.index.json");
  }
  const ShardIndex index = load_shard_index(path_inside(folder, kShardIndex));
  for (const std::string& name : index.shards) {
    auto shard = std::make_shared<SafetensorsFile>(open_inside(folder, name));
    check_shard(*shard, name, index);
    opened.files.push_back(std::move(shard));
  }
  return opened;
}

std::string path_inside(const std::string& folder, const std::string& name) {
  const std::string path = folder + "/" + name;
  std::error_code error;
  const fs::path home = fs::canonical(folder, error);
  if (error) throw Exception(ErrorCode::kFileNotFound, folder, "the model folder does not exist");
  const fs::path target = fs::canonical(path, error);
  if (error == std::errc::no_such_file_or_directory) throw Exception(ErrorCode::kFileNotFound, path, "the file does not exist");
  if (error) throw Exception(ErrorCode::kFileUnreadable, path, "the file cannot be opened (" + error.message() + ")");
  const bool cached = home.parent_path().filename() == "snapshots" && beneath(target, home.parent_path().parent_path() / "blobs");
  if (!beneath(target, home) && !cached) {
    throw Exception(ErrorCode::kFileUnreadable, path, "a link that leads out of the model folder");
  }
  return path;
}

RegularFile open_inside(const std::string& folder, const std::string& name) { return RegularFile(path_inside(folder, name)); }

}  // namespace winnow
