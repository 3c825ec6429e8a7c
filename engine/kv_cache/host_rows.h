// Reads and writes rows of a cache's heads in the memory of the CPU, in the storage that the shape names; the counterpart of
// device_heads.h.
//
// Used inside engine/kv_cache, which owns the slots and blocks. Keys of a head with a bias (CachedHead::key_bias) are stored without it,
// and readers get it back (unbiased_keys.h). Blocks that are written have no other owner. Copies share the rotations. Errors: kInternal,
// kNumericFailure for a value out of fp16's range. Engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/kv_cache/cached_head.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/kv_cache/unbiased_keys.h"

namespace winnow {

class HostRows {
 public:
  explicit HostRows(const KvShape& shape);

  // Appends to every head of a layer, whose blocks have room. rows: [kv_heads, t, head_dim]. Adds the slots' rotations, not their tokens.
  void append(std::span<CachedHead> heads, const SlotRows& rows);

  // Rounds rows [k, head_dim] into slots [first_slot, first_slot + k).
  void write(CachedHead& head, std::int64_t first_slot, const SlotRows& rows) const;

  // The same with rows as gather_stored() tells them, whose keys may lack the bias (SlotRows::positions).
  void write_stored(CachedHead& head, std::int64_t first_slot, const SlotRows& rows);

  // `count` slots of one block, [count, head_dim]: a view where rows are stored in the shape's dtype without a bias.
  at::Tensor read(const CachedHead& head, KvPart part, std::int64_t slot, std::int64_t count) const;

  // Contiguous copies of the first `count` slots, [count, head_dim].
  at::Tensor gather(const CachedHead& head, KvPart part, std::int64_t count) const;

  // The same, with keys as they are stored.
  SlotRows gather_stored(const CachedHead& head, std::int64_t count) const;

  UnstoredBias unstored_bias(const CachedHead& head) const;

  std::int64_t rotation_bytes() const { return rotations_ ? rotations_->bytes() : 0; }

 private:
  HeadBias bias_of(const CachedHead& head) const { return {head.key_bias, rotations_.get()}; }
  // positions may be undefined: kNone for each.
  std::vector<std::int32_t> rotations_at(const at::Tensor& positions, std::int64_t count);
  at::Tensor stored(const CachedHead& head, KvPart part, std::int64_t count, at::ScalarType type) const;

  KvShape shape_;
  std::shared_ptr<KeyRotations> rotations_;  // null: no layer takes_bias()
};

}  // namespace winnow
