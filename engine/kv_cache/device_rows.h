// Rows of slots on a GPU, read and written by one launch for all heads of a layer: a copy for every block would take longer than its rows.
//
// Used inside engine/kv_cache. Rows of a head outside the cache are told to the kernel as blocks of a cache are, and come with the order in
// which they are moved by one copy to the device; a long order is made there. Rows are moved as they are. Errors: kDeviceFailed. Engine
// thread only.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>
#include <vector>

#include "engine/kv_cache/kv_cache.h"

namespace winnow {

// Of as many heads of one layer as `count` has numbers.
struct SlotRanges {
  std::vector<std::int32_t> first;
  std::vector<std::int32_t> count;
};

// Copies slots of blocks into slots of others. sources: on the device, head after head, which slot each of `to` is a copy of.
void move_slots(const KvShape& shape, const DeviceBlocks& from, const std::int32_t* sources, const DeviceBlocks& to,
                const SlotRanges& written);

// [count, head_dim] for every head, side by side in the memory of one tensor.
std::vector<SlotRows> read_slots(const KvShape& shape, const DeviceBlocks& from, const SlotRanges& ranges);

// rows: of every head that the blocks are of, any float type, on any device; from slot first[head] on. Their blocks are there and have no
// other owner.
void write_slots(const KvShape& shape, const DeviceBlocks& to, const std::vector<std::int32_t>& first, std::span<const SlotRows> rows);

}  // namespace winnow
