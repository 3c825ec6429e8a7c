// Merging on tensors: the nearest kept row of each evicted one, and the merges that a reducer returned (recipes/reducers/reducer.h).
//
// Used by compression_event.h and decode/. Rows are [n, d], as they were before the eviction: fp32, or the cache's storage type; sums are
// fp32. On a GPU all heads of a layer go there and back together; on the host the work team shares the work. Engine thread.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>
#include <vector>

#include "engine/recipes/reducers/reducer.h"

namespace winnow {

// One KV head with evicted rows. Both lists ascend.
struct LeavingRows {
  at::Tensor keys;
  std::span<const std::int32_t> kept;
  std::span<const std::int32_t> leaving;
};

// Per head and evicted row the kept row with the nearest key (ties: the smaller row); empty if no row is kept. cos = dot / max(|a| |b|,
// 1e-12). Evicted rows are processed in tiles: O(tile * kept) memory. On a GPU a kernel needs no matrix (device_merge.h), and the host
// waits once.
std::vector<std::vector<MergePair>> nearest_by_cosine(std::span<const LeavingRows> heads);

// The merges of one KV head.
struct HeadFlows {
  const Merging& merging;
  at::Tensor keys;
  at::Tensor values;
  std::span<const std::int32_t> kept;
};

struct MergedSlots {
  at::Tensor keys;  // fp32 [kept, d], in the order of `kept`
  at::Tensor values;
  std::vector<std::int32_t> merged;  // per kept slot: how many slots were merged into it
};

std::vector<MergedSlots> carry_out(std::span<const HeadFlows> heads);
MergedSlots carry_out(const Merging& merging, const at::Tensor& keys, const at::Tensor& values, std::span<const std::int32_t> kept);

}  // namespace winnow
