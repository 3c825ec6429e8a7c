// Merging on tensors: whom a leaving slot resembles, and the flows that a reducer answered with (recipes/reducers/reducer.h).
//
// Used by compression_event.h and decode/. Rows are [n, d], as they were before anything left: fp32, or as the cache stores them; sums are
// fp32. What is asked of all heads of a layer goes to a GPU and comes back together. Engine thread; what is the host's is shared by the
// work team.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>
#include <vector>

#include "engine/recipes/reducers/reducer.h"

namespace winnow {

// One KV head of which rows leave. Both lists ascend.
struct LeavingRows {
  at::Tensor keys;
  std::span<const std::int32_t> kept;
  std::span<const std::int32_t> leaving;
};

// Per head and leaving row the kept row with the most similar key (ties: the smaller row); nothing if no row is kept. cos = dot / max(|a|
// |b|, 1e-12). Goes over the leaving rows in tiles: O(tile * kept) memory; on a GPU by a kernel without the matrix (device_merge.h), and
// the host waits once.
std::vector<std::vector<MergePair>> nearest_by_cosine(std::span<const LeavingRows> heads);

// What flows in one KV head.
struct HeadFlows {
  const Merging& merging;
  at::Tensor keys;
  at::Tensor values;
  std::span<const std::int32_t> kept;
};

struct MergedSlots {
  at::Tensor keys;  // fp32 [kept, d], in the order of `kept`
  at::Tensor values;
  std::vector<std::int32_t> merged;  // per kept slot: how many slots flowed into it
};

std::vector<MergedSlots> carry_out(std::span<const HeadFlows> heads);
MergedSlots carry_out(const Merging& merging, const at::Tensor& keys, const at::Tensor& values, std::span<const std::int32_t> kept);

}  // namespace winnow
