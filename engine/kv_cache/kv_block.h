// A block of a cache: K rows, then V rows, of up to KvCache::kBlockSlots slots of one KV head, in the storage that the cache's shape names.
//
// Used inside engine/kv_cache, the only code that knows how rows are stored. Floats (KvShape::row_type()) are [2, kBlockSlots, head_dim].
// In 8 and 4 bits each of K and V is kBlockSlots rows of codes, then as many of scales (kernels/api/narrow_rows.h), as the decode kernel
// reads them (kernels/api/decode_attention.h): a row and its scales move together. Shared between forks; written only by a single owner. A
// block owns its memory or a slice of an allocation of several blocks (block_pool.h), which the next block reuses. Errors: kOutOfMemory.
// Engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/kv_cache/kv_cache.h"
#include "engine/kv_cache/narrow_rows.h"

namespace winnow {

class BlockMemory;

// A freed block's slice; its allocation may have been freed since.
struct FreePlace {
  std::weak_ptr<const BlockMemory> memory;
  std::int64_t place = 0;
};
using FreePlaces = std::vector<FreePlace>;

// Memory of `blocks` blocks of floats: one allocation.
class BlockMemory {
 public:
  BlockMemory(const KvShape& shape, std::int64_t blocks, std::shared_ptr<FreePlaces> free);

  const at::Tensor& rows() const { return rows_; }
  FreePlaces& free() const { return *free_; }

 private:
  at::Tensor rows_;                   // [2 * blocks, kBlockSlots, head_dim]
  std::shared_ptr<FreePlaces> free_;  // slices of freed blocks
};

class KvBlock {
 public:
  explicit KvBlock(const KvShape& shape);
  KvBlock(const KvShape& shape, std::shared_ptr<const BlockMemory> shared, std::int64_t place);
  ~KvBlock();
  KvBlock(const KvBlock&) = delete;
  KvBlock& operator=(const KvBlock&) = delete;

  // False: floats.
  bool holds_codes() const { return form_.has_value(); }
  const std::byte* begin_of(KvPart part) const { return part == KvPart::kKeys ? keys_ : values_; }
  std::byte* begin_to_write(KvPart part) { return part == KvPart::kKeys ? keys_ : values_; }

  // Copies the whole other block, of the same shape.
  void copy_all(const KvBlock& from) { all().copy_(from.all()); }
  // Copies K and V of `count` slots of another block, or of this one without overlap; on the CPU. Rounds them if the other block is wide
  // and this one is not.
  void copy_slots(std::int64_t to_row, const KvBlock& from, std::int64_t from_row, std::int64_t count);
  // Writes rows [first, first + count) of source, [n, head_dim] of any strides and any float dtype, rounded, from `to_row` on.
  void write(KvPart part, std::int64_t to_row, const at::Tensor& source, std::int64_t first, std::int64_t count);

  // Keys [n, head_dim] without their offsets, as narrow_into(); a wide block takes all.
  void write_without(std::int64_t to_row, const at::Tensor& source, const float* offsets, std::uint8_t* taken);

  // [count, head_dim] in the shape's dtype: a view if rows are stored in it, else upcast.
  at::Tensor rows(KvPart part, std::int64_t first, std::int64_t count) const;
  // The same into `to`, of any float type, if rows are stored in another type.
  void upcast(KvPart part, std::int64_t first, const at::Tensor& to) const;
  // Keys with their offsets.
  void upcast_with(std::int64_t first, const float* offsets, const at::Tensor& to) const;

 private:
  at::Tensor all() const { return shared_ ? memory_.narrow(0, 2 * place_, 2) : memory_; }
  // A view of rows stored as floats.
  at::Tensor floats(KvPart part, std::int64_t first, std::int64_t count) const;
  // The codes and scales of rows from `row` on.
  NarrowPlace place(KvPart part, std::int64_t row) const;

  at::Tensor memory_;
  std::shared_ptr<const BlockMemory> shared_;  // the allocation; null: the block's own
  std::int64_t place_ = 0;                     // in the allocation
  std::byte* keys_ = nullptr;
  std::byte* values_ = nullptr;
  KvStorage storage_;
  std::int64_t head_dim_;
  std::optional<RowCodes> form_{};
  std::int64_t row_bytes_;        // without scales
  std::int64_t scale_bytes_ = 0;  // of a row
  at::ScalarType dtype_;          // of readers
  at::ScalarType row_type_;       // of stored floats
};

}  // namespace winnow
