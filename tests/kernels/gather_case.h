// Block lists of a layer's heads in host memory, and slots of them that are to be gathered into other blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/api/gather_slots.h"

namespace winnow::kernels::testing {

class GatherCase {
 public:
  static constexpr std::int64_t kBlockSlots = 64;

  // counts: per kv head, slots that are written; head h has 10 h slots before those, and 200 slots to read. Memory begins at a multiple
  // of 16.
  GatherCase(std::int64_t row_bytes, std::vector<std::int32_t> counts) : row_bytes_(row_bytes), counts_(std::move(counts)) {
    for (std::size_t head = 0; head < counts_.size(); ++head) {
      firsts_.push_back(static_cast<std::int32_t>(10 * head));
      to_stride_ = std::max(to_stride_, (firsts_[head] + counts_[head] + kBlockSlots - 1) / kBlockSlots);
      for (std::int32_t i = 0; i < counts_[head]; ++i) sources_.push_back((i * 37 + 11) % 200);
    }
    from_.resize(static_cast<std::size_t>(2 * heads() * kFromStride * block_bytes()));
    for (std::size_t i = 0; i < from_.size(); ++i) from_[i] = static_cast<std::byte>((i * 31 + i / 999) % 251);
    to_.resize(static_cast<std::size_t>(2 * heads() * to_stride_ * block_bytes()));
  }

  std::string name() const { return std::to_string(row_bytes_) + " bytes a row, first head " + std::to_string(counts_[0]); }

  std::int64_t heads() const { return static_cast<std::int64_t>(counts_.size()); }
  std::vector<std::byte>& from() { return from_; }  // [2 (K, V), kv_heads, kFromStride] blocks
  std::vector<std::byte>& to() { return to_; }      // [2 (K, V), kv_heads, to_stride] blocks
  const std::vector<std::int32_t>& sources() const { return sources_; }

  // Where the blocks of K, then those of V are if the memory begins there.
  std::vector<std::byte*> from_table(std::byte* memory) const { return table(memory, kFromStride); }
  std::vector<std::byte*> to_table(std::byte* memory) const { return table(memory, to_stride_); }

  // tables and sources: of the memory that a kernel reads.
  GatherSlotsArgs args(std::byte* const* from_table, std::byte* const* to_table, const std::int32_t* sources) const {
    GatherSlotsArgs args{.kv_heads = heads(),
                         .row_bytes = row_bytes_,
                         .block_slots = kBlockSlots,
                         .from_key_blocks = reinterpret_cast<const void* const*>(from_table)};
    args.from_value_blocks = args.from_key_blocks + heads() * kFromStride;
    args.from_stride = kFromStride;
    args.to_key_blocks = reinterpret_cast<void* const*>(to_table);
    args.to_value_blocks = args.to_key_blocks + heads() * to_stride_;
    args.to_stride = to_stride_;
    args.first = firsts_.data();
    args.count = counts_.data();
    args.sources = sources;
    return args;
  }

 private:
  static constexpr std::int64_t kFromStride = 4;

  std::int64_t block_bytes() const { return kBlockSlots * row_bytes_; }
  std::vector<std::byte*> table(std::byte* memory, std::int64_t stride) const {
    std::vector<std::byte*> blocks;
    for (std::int64_t i = 0; i < 2 * heads() * stride; ++i) blocks.push_back(memory + i * block_bytes());
    return blocks;
  }

  std::int64_t row_bytes_;
  std::int64_t to_stride_ = 1;
  std::vector<std::int32_t> counts_, firsts_, sources_;
  std::vector<std::byte> from_, to_;
};

// Calls gather(args) over the case's own memory; the blocks that it wrote.
template <class Gather>
std::vector<std::byte> gathered(GatherCase problem, const Gather& gather) {
  const std::vector<std::byte*> from = problem.from_table(problem.from().data());
  const std::vector<std::byte*> to = problem.to_table(problem.to().data());
  gather(problem.args(from.data(), to.data(), problem.sources().data()));
  return problem.to();
}

}  // namespace winnow::kernels::testing
