// Keys of one KV head whose bias is not stored with them (key_bias.h): taken away as rows are written, added again as they are read.
//
// Used inside engine/kv_cache. keys: [n, head_dim] in the shape's dtype. rotations: of as many slots; writing makes one kNone where its key
// is stored with its bias, because it gains little without. Errors: kInternal. Engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>

#include "engine/kv_cache/key_bias.h"
#include "engine/kv_cache/kv_block.h"

namespace winnow {

struct HeadBias {
  const float* bias = nullptr;  // [head_dim]; null: the head stores keys as they are
  const KeyRotations* rotations = nullptr;

  explicit operator bool() const { return bias != nullptr; }
};

// Rows of one block from `row` on.
void write_unbiased_keys(KvBlock& block, std::int64_t row, const at::Tensor& keys, const HeadBias& head, std::span<std::int32_t> rotations);
void read_unbiased_keys(const KvBlock& block, std::int64_t row, const HeadBias& head, std::span<const std::int32_t> rotations,
                        const at::Tensor& to);

// What reading gives of keys when they have been written.
at::Tensor read_as_written(const at::Tensor& keys, const HeadBias& head, std::span<const std::int32_t> rotations);

}  // namespace winnow
