#include "engine/weights/weight_folder.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <new>
#include <optional>
#include <set>
#include <utility>

#include "engine/base/error.h"
#include "engine/weights/foreign_format.h"
#include "engine/weights/shard_index.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kChunkBytes = std::uint64_t{16} << 20;  // read and converted at a time; also the longest wait for an interrupt

std::optional<at::ScalarType> weight_type(StoredType type) {
  switch (type) {
    case StoredType::kF32:
      return at::kFloat;
    case StoredType::kF16:
      return at::kHalf;
    case StoredType::kBF16:
      return at::kBFloat16;
    default:
      return std::nullopt;
  }
}

std::string shape_text(at::IntArrayRef shape) {
  std::string text = "[";
  for (const std::int64_t dimension : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(dimension);
  return text + "]";
}

// libtorch reports a failed allocation as a general error with this phrase.
[[noreturn]] void rethrow_allocation(const c10::Error& error, const std::string& subject, std::uint64_t bytes) {
  const std::string_view message(error.what_without_backtrace());
  if (message.find("memory") != std::string_view::npos) {
    throw Exception(ErrorCode::kOutOfMemory, subject, "no memory for " + std::to_string(bytes) + " bytes of weights");
  }
  throw Exception(ErrorCode::kInternal, subject, std::string(message.substr(0, message.find('\n'))));
}

}  // namespace

WeightFolder::WeightFolder(const std::string& folder, std::span<const WeightNameRule> rules) : folder_(folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder_, error);
  if (!fs::exists(status)) throw Exception(ErrorCode::kFileNotFound, folder_, "the model folder does not exist");
  if (!fs::is_directory(status)) throw Exception(ErrorCode::kFileUnreadable, folder_, "a model is a folder, this is not one");
  open_shards(rules);
  shard_started_.assign(shards_.size(), false);
}

void WeightFolder::open_shards(std::span<const WeightNameRule> rules) {
  std::error_code error;
  if (has_single_weight_file(folder_)) {
    add_shard(SafetensorsFile(open_inside(folder_, "model.safetensors")), rules);
    return;
  }
  const std::string index_path = folder_ + "/model.safetensors.index.json";
  if (!fs::exists(fs::symlink_status(index_path, error))) {
    refuse_foreign_folder(folder_);
    throw Exception(ErrorCode::kFileNotFound, folder_ + "/model.safetensors",
                    "the folder has neither model.safetensors nor model.safetensors.index.json");
  }
  const ShardIndex index = load_shard_index(index_path);
  std::map<std::string, std::size_t, std::less<>> mapped_in_shard;
  for (const auto& [tensor, shard] : index.shard_of_tensor) ++mapped_in_shard[shard];
  for (const std::string& name : index.shards) {
    SafetensorsFile shard(open_inside(folder_, name));
    for (const auto& [tensor, stored] : shard.tensors()) {
      const auto mapped = index.shard_of_tensor.find(tensor);
      if (mapped == index.shard_of_tensor.end()) {
        throw Exception(ErrorCode::kDamagedFile, shard.path() + ": " + tensor, "the index does not list this tensor");
      }
      if (mapped->second != name) {
        throw Exception(ErrorCode::kDamagedFile, shard.path() + ": " + tensor, "the index places this tensor in another shard");
      }
    }
    if (shard.tensors().size() != mapped_in_shard[name]) {
      throw Exception(ErrorCode::kDamagedFile, shard.path(), "the index lists tensors that the shard does not have");
    }
    add_shard(std::move(shard), rules);
  }
}

void WeightFolder::add_shard(SafetensorsFile shard, std::span<const WeightNameRule> rules) {
  for (const auto& [stored_name, tensor] : shard.tensors()) {
    const std::string where = shard.path() + ": " + stored_name;
    if (places_.size() == kMaxTensors) {
      throw Exception(ErrorCode::kLimitExceeded, folder_, "more than " + std::to_string(kMaxTensors) + " tensors");
    }
    if (tensor.bytes() == 0) throw Exception(ErrorCode::kDamagedFile, where, "a weight without elements");
    if (!places_.emplace(canonical_weight_name(stored_name, rules), Place{shards_.size(), tensor}).second) {
      throw Exception(ErrorCode::kDamagedFile, where, "the folder has this weight twice, under the names of two layouts");
    }
    total_bytes_ += tensor.bytes();  // bounded by the sizes of real files
    parameter_count_ += static_cast<std::int64_t>(tensor.bytes() / stored_type_bytes(tensor.type));
  }
  shards_.push_back(std::move(shard));
}

std::vector<std::string> WeightFolder::names() const {
  std::vector<std::string> all;
  all.reserve(places_.size());
  for (const auto& [name, place] : places_) all.push_back(name);
  return all;
}

bool WeightFolder::has(std::string_view name) const { return places_.find(name) != places_.end(); }

std::vector<std::int64_t> WeightFolder::shape(std::string_view name) const { return place(name).tensor.shape; }

StoredType WeightFolder::stored_type(std::string_view name) const { return place(name).tensor.type; }

at::ScalarType WeightFolder::prevailing_type() const {
  std::map<at::ScalarType, std::uint64_t> bytes;
  for (const auto& [name, place] : places_) {
    if (const std::optional<at::ScalarType> type = weight_type(place.tensor.type)) bytes[*type] += place.tensor.bytes();
  }
  const auto most = std::ranges::max_element(bytes, {}, [](const auto& entry) { return entry.second; });
  return most == bytes.end() ? at::kFloat : most->first;
}

const WeightFolder::Place& WeightFolder::place(std::string_view name) const {
  const auto found = places_.find(name);
  if (found == places_.end()) throw Exception(ErrorCode::kDamagedFile, folder_ + ": " + std::string(name), "the folder lacks this weight");
  return found->second;
}

std::string WeightFolder::subject(const Place& place, std::string_view name) const {
  return shards_[place.shard].path() + ": " + std::string(name);
}

at::Tensor WeightFolder::load(std::string_view name, at::ScalarType type, at::Device device) {
  return load(name, at::IntArrayRef(place(name).tensor.shape), type, device);
}

at::Tensor WeightFolder::load(std::string_view name, at::IntArrayRef expected, at::ScalarType type, at::Device device) {
  interrupt_.throw_if_requested();
  require(at::isFloatingType(type), "weights are loaded as a floating-point type");
  const Place& where = place(name);
  const StoredTensor& stored = where.tensor;
  if (expected != at::IntArrayRef(stored.shape)) {
    throw Exception(ErrorCode::kDamagedFile, subject(where, name),
                    "the weight has shape " + shape_text(stored.shape) + " where the configuration says " + shape_text(expected));
  }
  const std::optional<at::ScalarType> stored_type = weight_type(stored.type);
  if (!stored_type) {
    throw Exception(ErrorCode::kUnsupportedFormat, subject(where, name),
                    "weights of type " + std::string(stored_type_name(stored.type)) + " are not read; F32, F16 and BF16 are");
  }
  at::Tensor result;
  try {
    result = at::empty(stored.shape, at::TensorOptions().dtype(type));
    const std::int64_t elements = result.numel();
    const auto element_bytes = static_cast<std::int64_t>(stored_type_bytes(stored.type));
    const std::int64_t chunk = static_cast<std::int64_t>(kChunkBytes) / element_bytes;
    at::Tensor flat = result.view({elements});
    at::Tensor staging;
    if (*stored_type != type) staging = at::empty({std::min(chunk, elements)}, at::TensorOptions().dtype(*stored_type));
    for (std::int64_t first = 0; first < elements; first += chunk) {
      interrupt_.throw_if_requested();
      const std::int64_t count = std::min(chunk, elements - first);
      at::Tensor target = flat.narrow(0, first, count);
      at::Tensor bytes = staging.defined() ? staging.narrow(0, 0, count) : target;
      shards_[where.shard].read(stored, static_cast<std::uint64_t>(first * element_bytes),
                                {static_cast<std::byte*>(bytes.data_ptr()), static_cast<std::size_t>(count * element_bytes)});
      if (staging.defined()) target.copy_(bytes);
    }
    if (device != at::Device(at::kCPU)) result = result.to(device);
  } catch (const c10::Error& error) {
    rethrow_allocation(error, subject(where, name), stored.bytes());
  } catch (const std::bad_alloc&) {
    throw Exception(ErrorCode::kOutOfMemory, subject(where, name), "no memory for " + std::to_string(stored.bytes()) + " bytes of weights");
  }
  shard_started_[where.shard] = true;
  read_bytes_ += stored.bytes();
  if (progress_) {
    progress_({std::ranges::count(shard_started_, true), shard_count(), read_bytes_, total_bytes_});
  }
  return result;
}

}  // namespace winnow
