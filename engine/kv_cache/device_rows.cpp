#include "engine/kv_cache/device_rows.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "engine/device/cuda_plugin.h"
#include "engine/device/host_numbers.h"

namespace winnow {

namespace {

// Contiguous rows of heads as lists of blocks, and the numbers of slots that are copied.
struct ListedRows {
  at::Tensor numbers;  // whose memory both lie in
  DeviceBlocks blocks;
  const std::int32_t* sources = nullptr;
};

// first_source: of each head; the others follow it.
ListedRows listed(const KvShape& shape, std::span<const SlotRows> rows, const std::vector<std::int32_t>& first_source) {
  std::int64_t total = 0;
  std::int64_t stride = 1;
  for (const SlotRows& head : rows) {
    total += head.keys.size(0);
    stride = std::max(stride, KvCache::blocks_for(head.keys.size(0)));
  }
  const std::int64_t block_bytes = KvCache::kBlockSlots * shape.slot_bytes() / 2;
  const std::int64_t pointers = 2 * std::ssize(rows) * stride;
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(pointers + (total + 1) / 2), 0);
  std::vector<std::int32_t> sources(static_cast<std::size_t>(total));
  auto next = sources.begin();
  for (std::size_t head = 0; head < rows.size(); ++head) {
    const std::int64_t count = rows[head].keys.size(0);
    std::iota(next, next + count, first_source[head]);
    next += count;
    const auto list = [&](const at::Tensor& part, std::size_t at) {
      const auto first = reinterpret_cast<std::int64_t>(part.const_data_ptr());
      for (std::int64_t block = 0; block < KvCache::blocks_for(count); ++block) {
        numbers[at * static_cast<std::size_t>(stride) + static_cast<std::size_t>(block)] = first + block * block_bytes;
      }
    };
    list(rows[head].keys, head);
    list(rows[head].values, rows.size() + head);
  }
  if (total > 0) std::memcpy(numbers.data() + pointers, sources.data(), sources.size() * sizeof(std::int32_t));
  ListedRows listed;
  listed.numbers = numbers_on(shape.device, numbers);
  const auto* const there = listed.numbers.const_data_ptr<std::int64_t>();
  const auto* const keys = reinterpret_cast<void* const*>(there);
  listed.blocks = {keys, keys + std::ssize(rows) * stride, stride};
  listed.sources = reinterpret_cast<const std::int32_t*>(there + pointers);
  return listed;
}

// The heads' rows, one after the other in memory of one tensor each: so they begin where the kernel wants rows to begin.
std::vector<SlotRows> pieces(const at::Tensor& keys, const at::Tensor& values, const std::vector<std::int32_t>& count) {
  std::vector<SlotRows> of_heads;
  std::int64_t first = 0;
  for (const std::int32_t rows : count) {
    of_heads.push_back({keys.narrow(0, first, rows), values.narrow(0, first, rows)});
    first += rows;
  }
  return of_heads;
}

}  // namespace

void move_slots(const KvShape& shape, const DeviceBlocks& from, const std::int32_t* sources, const DeviceBlocks& to,
                const SlotRanges& written) {
  kernels::GatherSlotsArgs args;
  args.kv_heads = std::ssize(written.count);
  args.row_bytes = shape.slot_bytes() / 2;
  args.block_slots = KvCache::kBlockSlots;
  args.from_key_blocks = from.key_blocks;
  args.from_value_blocks = from.value_blocks;
  args.from_stride = from.stride;
  args.to_key_blocks = to.key_blocks;
  args.to_value_blocks = to.value_blocks;
  args.to_stride = to.stride;
  args.first = written.first.data();
  args.count = written.count.data();
  args.sources = sources;
  require_launched(cuda_plugin().gather_slots(&args), "moving slots of the cache");
}

std::vector<SlotRows> read_slots(const KvShape& shape, const DeviceBlocks& from, const SlotRanges& ranges) {
  const std::int64_t total = std::accumulate(ranges.count.begin(), ranges.count.end(), std::int64_t{0});
  const at::Tensor both = at::empty({2, total, shape.head_dim}, at::TensorOptions(shape.device).dtype(shape.dtype));
  std::vector<SlotRows> rows = pieces(both.select(0, 0), both.select(0, 1), ranges.count);
  if (total == 0) return rows;
  const ListedRows to = listed(shape, rows, ranges.first);
  move_slots(shape, from, to.sources, to.blocks, {std::vector<std::int32_t>(rows.size(), 0), ranges.count});
  return rows;
}

void write_slots(const KvShape& shape, const DeviceBlocks& to, const std::vector<std::int32_t>& first, std::span<const SlotRows> rows) {
  SlotRanges written{first, {}};
  std::vector<at::Tensor> keys;
  std::vector<at::Tensor> values;
  for (const SlotRows& head : rows) {
    written.count.push_back(static_cast<std::int32_t>(head.keys.size(0)));
    keys.push_back(head.keys);
    values.push_back(head.values);
  }
  const auto together = [&](const std::vector<at::Tensor>& parts) {
    return at::cat(parts).to(shape.device, shape.dtype, /*non_blocking=*/true);
  };
  const at::Tensor all_keys = together(keys);
  const at::Tensor all_values = together(values);
  if (all_keys.size(0) == 0) return;
  const ListedRows from = listed(shape, pieces(all_keys, all_values, written.count), std::vector<std::int32_t>(rows.size(), 0));
  move_slots(shape, from.blocks, from.sources, to, written);
}

}  // namespace winnow
