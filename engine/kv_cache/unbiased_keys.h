// Keys of one KV head that are stored without their bias (key_bias.h): it is subtracted as rows are written and added as they are read.
//
// Used inside engine/kv_cache. keys: [n, head_dim] in the shape's dtype. rotations: one a slot; writing sets kNone for a key that gains too
// little and is stored with its bias. Errors: kInternal. Engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>

#include "engine/kv_cache/key_bias.h"
#include "engine/kv_cache/kv_block.h"

namespace winnow {

struct HeadBias {
  const float* bias = nullptr;  // [head_dim]; null: keys are stored with their bias
  const KeyRotations* rotations = nullptr;

  explicit operator bool() const { return bias != nullptr; }
};

// Rows of one block from `row` on.
void write_unbiased_keys(KvBlock& block, std::int64_t row, const at::Tensor& keys, const HeadBias& head, std::span<std::int32_t> rotations);
void read_unbiased_keys(const KvBlock& block, std::int64_t row, const HeadBias& head, std::span<const std::int32_t> rotations,
                        const at::Tensor& to);

}  // namespace winnow
