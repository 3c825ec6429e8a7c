#include "engine/weights/model_weights.h"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "engine/base/error.h"
#include "engine/device/work_team.h"

namespace winnow {
namespace {

// Read and converted at a time, of what is larger, the stored or the read; also the longest wait for an interrupt.
constexpr std::int64_t kChunkBytes = std::int64_t{16} << 20;
// About the piece of a matrix that a thread reads between two looks at the interrupt, and the rows that quantised folders store in words
// together.
constexpr std::int64_t kPieceBytes = std::int64_t{5} << 19;
constexpr std::int64_t kRowsTogether = 8;

std::optional<at::ScalarType> weight_type(StoredType type) {
  switch (type) {
    case StoredType::kF32: return at::kFloat;
    case StoredType::kF16: return at::kHalf;
    case StoredType::kBF16: return at::kBFloat16;
    default: return std::nullopt;
  }
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

ModelWeights::ModelWeights(TensorFiles files, std::span<const WeightNameRule> rules) : files_(std::move(files)) {
  for (std::size_t file = 0; file < files_.files.size(); ++file) add_file(file, rules);
  file_started_.assign(files_.files.size(), false);
}

void ModelWeights::add_file(std::size_t index, std::span<const WeightNameRule> rules) {
  const TensorFile& file = *files_.files[index];
  for (const auto& [stored_name, tensor] : file.tensors()) {
    const std::string where = file.path() + ": " + stored_name;
    if (places_.size() == kMaxTensors) {
      throw Exception(ErrorCode::kLimitExceeded, files_.path, "more than " + std::to_string(kMaxTensors) + " tensors");
    }
    if (tensor.bytes() == 0) throw Exception(ErrorCode::kDamagedFile, where, "a weight without elements");
    if (!places_.emplace(canonical_weight_name(stored_name, rules), Place{index, tensor}).second) {
      throw Exception(ErrorCode::kDamagedFile, where, "the folder has this weight twice, under the names of two layouts");
    }
    total_bytes_ += tensor.bytes();  // bounded by the sizes of real files
    parameter_count_ += static_cast<std::int64_t>(tensor.elements());
  }
}

std::vector<std::string> ModelWeights::names() const {
  std::vector<std::string> all;
  all.reserve(places_.size());
  for (const auto& [name, place] : places_) all.push_back(name);
  return all;
}

bool ModelWeights::has(std::string_view name) const { return places_.find(name) != places_.end(); }

std::vector<std::int64_t> ModelWeights::shape(std::string_view name) const { return place(name).tensor.shape; }

StoredType ModelWeights::stored_type(std::string_view name) const { return place(name).tensor.type; }

at::ScalarType ModelWeights::prevailing_type() const {
  std::map<at::ScalarType, std::uint64_t> bytes;
  std::uint64_t in_blocks = 0;
  for (const auto& [name, place] : places_) {
    if (const std::optional<at::ScalarType> type = weight_type(place.tensor.type)) bytes[*type] += place.tensor.bytes();
    if (in_few_bits(place.tensor.type)) in_blocks += place.tensor.bytes();
  }
  const auto most = std::ranges::max_element(bytes, {}, [](const auto& entry) { return entry.second; });
  if (most == bytes.end()) return at::kFloat;
  return most->second < in_blocks ? at::kBFloat16 : most->first;
}

const ModelWeights::Place& ModelWeights::place(std::string_view name) const {
  const auto found = places_.find(name);
  if (found == places_.end())
    throw Exception(ErrorCode::kDamagedFile, files_.path + ": " + std::string(name), "the folder lacks this weight");
  return found->second;
}

std::string ModelWeights::subject(const Place& place, std::string_view name) const {
  return files_.files[place.file]->path() + ": " + std::string(name);
}

void ModelWeights::load_elements(const Place& from, at::ScalarType stored_type, const at::Tensor& flat) const {
  const std::int64_t elements = flat.numel();
  const std::int64_t element_bytes = static_cast<std::int64_t>(stored_block(from.tensor.type).bytes);
  const std::int64_t chunk = kChunkBytes / element_bytes;
  at::Tensor staging;
  if (stored_type != flat.scalar_type()) staging = at::empty({std::min(chunk, elements)}, at::TensorOptions().dtype(stored_type));
  for (std::int64_t first = 0; first < elements; first += chunk) {
    interrupt_.throw_if_requested();
    const std::int64_t count = std::min(chunk, elements - first);
    at::Tensor target = flat.narrow(0, first, count);
    at::Tensor bytes = staging.defined() ? staging.narrow(0, 0, count) : target;
    files_.files[from.file]->read(from.tensor, static_cast<std::uint64_t>(first * element_bytes),
                                  {static_cast<std::byte*>(bytes.data_ptr()), static_cast<std::size_t>(count * element_bytes)});
    if (staging.defined()) target.copy_(bytes);
  }
}

void ModelWeights::load_blocks(const Place& from, const at::Tensor& flat) const {
  const kernels::BlockType type = *block_type(from.tensor.type);
  const std::int64_t block_elements = kernels::block_elements(type);
  const std::int64_t block_bytes = kernels::block_bytes(type);
  const std::int64_t blocks = flat.numel() / block_elements;
  const std::int64_t chunk = kChunkBytes / (block_elements * static_cast<std::int64_t>(sizeof(float)));
  at::Tensor staging = at::empty({std::min(chunk, blocks) * block_bytes}, at::kByte);
  at::Tensor values;
  if (flat.scalar_type() != at::kFloat) values = at::empty({std::min(chunk, blocks) * block_elements}, at::kFloat);
  for (std::int64_t first = 0; first < blocks; first += chunk) {
    interrupt_.throw_if_requested();
    const std::int64_t count = std::min(chunk, blocks - first);
    auto* bytes = static_cast<std::byte*>(staging.data_ptr());
    files_.files[from.file]->read(from.tensor, static_cast<std::uint64_t>(first * block_bytes),
                                  {bytes, static_cast<std::size_t>(count * block_bytes)});
    at::Tensor target = flat.narrow(0, first * block_elements, count * block_elements);
    at::Tensor read = values.defined() ? values.narrow(0, 0, count * block_elements) : target;
    kernels::dequantise(type, bytes, read.numel(), read.data_ptr<float>());
    if (values.defined()) target.copy_(read);
  }
}

at::Tensor ModelWeights::load(std::string_view name, at::ScalarType type, at::Device device) {
  return load(name, at::IntArrayRef(place(name).tensor.shape), type, device);
}

at::Tensor ModelWeights::load(std::string_view name, at::IntArrayRef expected, at::ScalarType type, at::Device device) {
  require(at::isFloatingType(type), "weights are loaded as a floating-point type");
  const Place& where = checked_place(name, expected);
  const StoredTensor& stored = where.tensor;
  if (!block_type(stored.type)) {
    throw Exception(
        ErrorCode::kUnsupportedFormat, subject(where, name),
        "weights of type " + std::string(stored_type_name(stored.type)) + " are not read; F32, F16, BF16 and GGUF's blocks are");
  }
  at::Tensor result;
  try {
    result = at::empty(stored.shape, at::TensorOptions().dtype(stored.with_one ? at::kFloat : type));
    if (const std::optional<at::ScalarType> stored_type = weight_type(stored.type)) {
      load_elements(where, *stored_type, result.view({result.numel()}));
    } else {
      load_blocks(where, result.view({result.numel()}));
    }
    if (stored.with_one) result = result.sub_(1.0).to(type);
    if (const std::vector<std::int32_t> order = row_order(stored); !order.empty())
      result = result.index_select(0, at::tensor(order, at::kLong));
    if (stored.column_of != nullptr) result = result.index_select(1, at::tensor(*stored.column_of, at::kLong).argsort());
    if (device != at::Device(at::kCPU)) result = result.to(device);
  } catch (const c10::Error& error) {
    rethrow_allocation(error, subject(where, name), stored.bytes());
  } catch (const std::bad_alloc&) {
    throw Exception(ErrorCode::kOutOfMemory, subject(where, name), "no memory for " + std::to_string(stored.bytes()) + " bytes of weights");
  }
  count_as_read(where);
  return result;
}

at::Tensor ModelWeights::load_bytes(const Place& from) const {
  const auto size = static_cast<std::int64_t>(from.tensor.bytes());
  at::Tensor bytes = at::empty({size}, at::kByte);
  auto* const to = static_cast<std::byte*>(bytes.mutable_data_ptr());
  // On several threads: what a quantised folder stores is put into blocks while it is read.
  const std::int64_t row_bytes = size / (static_cast<std::int64_t>(from.tensor.elements()) / from.tensor.shape.back());
  const std::int64_t piece = std::max<std::int64_t>(1, kPieceBytes / (kRowsTogether * row_bytes)) * kRowsTogether * row_bytes;
  share_work((size + piece - 1) / piece, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t first = begin * piece; first < std::min(size, end * piece); first += piece) {
      interrupt_.throw_if_requested();
      files_.files[from.file]->read(from.tensor, static_cast<std::uint64_t>(first),
                                    {to + first, static_cast<std::size_t>(std::min(piece, size - first))});
    }
  });
  return bytes;
}

StoredMatrix ModelWeights::stored(std::string_view name, at::IntArrayRef expected) {
  const Place& where = checked_place(name, expected);
  const std::shared_ptr<const TensorFile>& file = files_.files[where.file];
  StoredMatrix matrix{where.tensor.type, file->view(where.tensor), row_order(where.tensor), where.tensor.column_of, file};
  if (matrix.bytes.empty()) {
    try {
      const auto bytes = std::make_shared<const at::Tensor>(load_bytes(where));
      matrix.bytes = {static_cast<const std::byte*>(bytes->const_data_ptr()), bytes->nbytes()};
      matrix.owner = bytes;
    } catch (const c10::Error& error) {
      rethrow_allocation(error, subject(where, name), where.tensor.bytes());
    }
  }
  count_as_read(where);
  return matrix;
}

const ModelWeights::Place& ModelWeights::checked_place(std::string_view name, at::IntArrayRef expected) const {
  interrupt_.throw_if_requested();
  const Place& where = place(name);
  if (expected != at::IntArrayRef(where.tensor.shape)) {
    throw Exception(ErrorCode::kDamagedFile, subject(where, name),
                    "the weight has shape " + shape_text(where.tensor.shape) + " where the configuration says " + shape_text(expected));
  }
  return where;
}

void ModelWeights::count_as_read(const Place& place) {
  file_started_[place.file] = true;
  read_bytes_ += place.tensor.bytes();
  report();
}

void ModelWeights::set_progress(std::function<void(const WeightProgress&)> progress) {
  progress_ = std::move(progress);
  report();
}

void ModelWeights::report() const {
  if (progress_) progress_({std::ranges::count(file_started_, true), shard_count(), read_bytes_, total_bytes_});
}

}  // namespace winnow
