// The weights of a model under one set of names, whatever layout and files they were saved in.
//
// Opened by engine/models. Reads tensors one by one, converted to the wanted type (by way of fp32, if their elements share scales) and
// moved to the wanted device. What is loaded is a copy, which later changes of the file do not reach. Only stored() of a mapped file refers
// to it: the owner then keeps the TensorFile, and whoever computes with it asks changed(). Names: canonical (weight_names.h). Errors:
// Exception kFileUnreadable, kUnsupportedFormat, kDamagedFile, kLimitExceeded, kOutOfMemory; Interrupted. Threads: one at a time.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/interrupt.h"
#include "engine/weights/tensor_file.h"
#include "engine/weights/weight_names.h"

namespace winnow {

// A matrix as it is stored: where it lies in its file, or read from one that is not mapped.
struct StoredMatrix {
  StoredType type = StoredType::kF32;
  std::span<const std::byte> bytes;
  std::vector<std::int32_t> row_of;                            // as row_order()
  std::shared_ptr<const std::vector<std::int32_t>> column_of;  // as StoredTensor's
  std::shared_ptr<const void> owner;                           // keeps the bytes
};

struct WeightProgress {
  std::int64_t shards_started = 0;  // files of which a tensor was read
  std::int64_t shard_count = 0;
  std::uint64_t read_bytes = 0;  // as stored
  std::uint64_t total_bytes = 0;
};

class ModelWeights {
 public:
  ModelWeights(TensorFiles files, std::span<const WeightNameRule> rules);

  std::vector<std::string> names() const;  // canonical, sorted
  bool has(std::string_view name) const;
  std::vector<std::int64_t> shape(std::string_view name) const;
  StoredType stored_type(std::string_view name) const;
  // That most bytes are stored in, of fp32, fp16 and bf16; fp32 if none is. bf16, which nothing overflows, where types whose elements share
  // scales hold more: what is beside them (norms in fp32, a tower in fp16) was not stored for the products with them.
  at::ScalarType prevailing_type() const;
  std::uint64_t total_bytes() const noexcept { return total_bytes_; }  // of tensor data as stored
  std::int64_t parameter_count() const noexcept { return parameter_count_; }
  std::int64_t shard_count() const noexcept { return static_cast<std::int64_t>(files_.files.size()); }

  // The tensor as `type` (floating point) on `device`, contiguous, its rows in order. Polls the interrupt before each tensor and every 16
  // MiB of it.
  at::Tensor load(std::string_view name, at::ScalarType type, at::Device device = at::kCPU);
  // Like load(), after the shape was found equal to `expected`; kDamagedFile naming tensor and both shapes otherwise.
  at::Tensor load(std::string_view name, at::IntArrayRef expected, at::ScalarType type, at::Device device = at::kCPU);

  // The matrix as it is stored, after the shape was found equal to `expected`. Counts as a load, and is one where the file is not mapped.
  StoredMatrix stored(std::string_view name, at::IntArrayRef expected);

  // For all later loads. progress is called at once and after every tensor.
  void set_interrupt(InterruptToken interrupt) { interrupt_ = std::move(interrupt); }
  void set_progress(std::function<void(const WeightProgress&)> progress);

 private:
  struct Place {
    std::size_t file = 0;
    StoredTensor tensor;
  };
  void add_file(std::size_t index, std::span<const WeightNameRule> rules);
  const Place& place(std::string_view name) const;
  const Place& checked_place(std::string_view name, at::IntArrayRef expected) const;
  void count_as_read(const Place& place);
  void report() const;
  std::string subject(const Place& place, std::string_view name) const;
  // Fill a one-dimensional tensor on the CPU; of elements that torch has a type for, and of blocks, which become fp32 first.
  void load_elements(const Place& from, at::ScalarType stored_type, const at::Tensor& flat) const;
  void load_blocks(const Place& from, const at::Tensor& flat) const;
  at::Tensor load_bytes(const Place& from) const;

  TensorFiles files_;
  std::map<std::string, Place, std::less<>> places_;
  std::uint64_t total_bytes_ = 0;
  std::int64_t parameter_count_ = 0;
  std::vector<bool> file_started_;
  std::uint64_t read_bytes_ = 0;
  InterruptToken interrupt_;
  std::function<void(const WeightProgress&)> progress_;
};

}  // namespace winnow
