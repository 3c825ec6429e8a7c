// Reads and writes rows of slots on a GPU with one launch for all heads of a layer: a copy per block would take longer than moving the
// rows.
//
// Used inside engine/kv_cache. Rows outside the cache are passed to the kernel as blocks of a head. Their pointers and the slot order go to
// the device in one copy; a long order is computed there. Rows are copied unchanged. Errors: kDeviceFailed. Engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>
#include <vector>

#include "engine/kv_cache/kv_cache.h"

namespace winnow {

// Slots of count.size() heads of one layer.
struct SlotRanges {
  std::vector<std::int32_t> first;
  std::vector<std::int32_t> count;
};

// Copies slots into slots of other blocks. sources: on the device, head after head, the source slot of each slot of `to`.
void move_slots(const KvShape& shape, const DeviceBlocks& from, const std::int32_t* sources, const DeviceBlocks& to,
                const SlotRanges& written);

// [count, head_dim] for every head, contiguous in one tensor's memory.
std::vector<SlotRows> read_slots(const KvShape& shape, const DeviceBlocks& from, const SlotRanges& ranges);

// rows: one entry a head of the blocks, any float type, on any device; written from slot first[head] on. The blocks exist and have no other
// owner.
void write_slots(const KvShape& shape, const DeviceBlocks& to, const std::vector<std::int32_t>& first, std::span<const SlotRows> rows);

}  // namespace winnow
