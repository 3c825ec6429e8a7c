// The device code of gather_slots; launched by gather_slots.cu, run on CPU threads in tests (tests/kernels/cuda_on_cpu.h).
//
// A warp copies the K and V row of one slot of one head; four slots per thread block.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/api/gather_slots.h"
#include "kernels/cuda/element.cuh"

namespace winnow::kernels::cuda {

constexpr int kGatherSlots = 4;  // per thread block

// The bytes that a lane moves at once: 16 if rows are a multiple of that, else two.
using GatherVector = Pack<std::uint32_t, 4>;
inline bool gathers_vectors(const GatherSlotsArgs& args) { return args.row_bytes % static_cast<std::int64_t>(sizeof(GatherVector)) == 0; }

struct GatherLaunch {
  const void* const* from_key_blocks;
  const void* const* from_value_blocks;
  void* const* to_key_blocks;
  void* const* to_value_blocks;
  std::int64_t from_stride;
  std::int64_t to_stride;
  const std::int32_t* sources;
  int row_bytes;
  int block_slots;
  int longest;  // slots of a head, at most
  int first[kMaxAppendHeads];
  int begin[kMaxAppendHeads + 1];  // of a head's sources
};

// args have been checked.
inline GatherLaunch plan_launch(const GatherSlotsArgs& args) {
  GatherLaunch launch = {};
  launch.from_key_blocks = args.from_key_blocks;
  launch.from_value_blocks = args.from_value_blocks;
  launch.to_key_blocks = args.to_key_blocks;
  launch.to_value_blocks = args.to_value_blocks;
  launch.from_stride = args.from_stride;
  launch.to_stride = args.to_stride;
  launch.sources = args.sources;
  launch.row_bytes = static_cast<int>(args.row_bytes);
  launch.block_slots = static_cast<int>(args.block_slots);
  for (std::int64_t head = 0; head < args.kv_heads; ++head) {
    launch.longest = std::max(launch.longest, args.count[head]);
    launch.first[head] = args.first[head];
    launch.begin[head + 1] = launch.begin[head] + args.count[head];
  }
  return launch;
}

// Unit: what a lane moves at once. Threads: 32 x kGatherSlots; grid: longest / kGatherSlots x kv_heads.
template <class Unit>
__global__ void __launch_bounds__(32 * kGatherSlots) gather_rows(GatherLaunch args) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int index = static_cast<int>(blockIdx.x) * kGatherSlots + static_cast<int>(threadIdx.x) / 32;
  const int head = static_cast<int>(blockIdx.y);
  if (index >= args.begin[head + 1] - args.begin[head]) return;
  const int from = args.sources[args.begin[head] + index];
  const int to = args.first[head] + index;
  const std::int64_t from_entry = head * args.from_stride + from / args.block_slots;
  const std::int64_t to_entry = head * args.to_stride + to / args.block_slots;
  const int units = args.row_bytes / static_cast<int>(sizeof(Unit));
  const std::int64_t from_row = std::int64_t{from % args.block_slots} * units;
  const std::int64_t to_row = std::int64_t{to % args.block_slots} * units;
  const Unit* key = static_cast<const Unit*>(args.from_key_blocks[from_entry]) + from_row;
  const Unit* value = static_cast<const Unit*>(args.from_value_blocks[from_entry]) + from_row;
  Unit* to_key = static_cast<Unit*>(args.to_key_blocks[to_entry]) + to_row;
  Unit* to_value = static_cast<Unit*>(args.to_value_blocks[to_entry]) + to_row;
  for (int i = lane; i < units; i += 32) {
    to_key[i] = key[i];
    to_value[i] = value[i];
  }
}

}  // namespace winnow::kernels::cuda
