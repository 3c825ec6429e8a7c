// Merging on tensors: whom a leaving slot resembles, and the flows that a reducer answered with (recipes/reducers/reducer.h).
//
// Used by compression_event.h and decode/. Pure functions on one kv head. keys, values: [n, d], as they were before anything left.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>
#include <vector>

#include "engine/recipes/reducers/reducer.h"

namespace winnow {

// For every leaving row the kept row with the most similar key (ties: the smaller row); nothing if no row is kept. cos = dot / max(|a| |b|,
// 1e-12), in fp32. Both ascend. keys: fp32, or as the cache stores them. Goes over the leaving rows in tiles: O(tile * kept) memory; on a
// GPU by a kernel without the matrix (device_merge.h).
std::vector<MergePair> nearest_by_cosine(const at::Tensor& keys, std::span<const std::int32_t> kept, std::span<const std::int32_t> leaving);

struct MergedSlots {
  at::Tensor keys;  // fp32 [kept, d], in the order of `kept`
  at::Tensor values;
  std::vector<std::int32_t> merged;  // per kept slot: how many slots flowed into it
};

// keys, values: fp32.
MergedSlots carry_out(const Merging& merging, const at::Tensor& keys, const at::Tensor& values, std::span<const std::int32_t> kept);

}  // namespace winnow
