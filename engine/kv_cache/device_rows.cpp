#include "engine/kv_cache/device_rows.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "engine/device/cuda_plugin.h"
#include "engine/device/host_numbers.h"

namespace winnow {

namespace {

// Numbers of slots that are told to the device: 64 KiB of them. The driver takes no more from a host that it does not let wait.
constexpr std::int64_t kMostTold = std::int64_t{1} << 14;

// Contiguous rows of heads as lists of blocks, and the numbers of slots that are copied.
struct ListedRows {
  at::Tensor numbers;  // whose memory the lists lie in
  at::Tensor slots{};  // whose memory `sources` lies in, unless it is the same
  DeviceBlocks blocks{};
  const std::int32_t* sources = nullptr;
};

// Makes `count` numbers from `first` on for each head, on the device: by one launch for heads that have the same, and one to put them
// together.
at::Tensor counted_there(at::Device device, const SlotRanges& ranges) {
  std::vector<at::Tensor> parts;
  for (std::size_t head = 0; head < ranges.count.size(); ++head) {
    const bool as_before = head > 0 && ranges.first[head] == ranges.first[head - 1] && ranges.count[head] == ranges.count[head - 1];
    parts.push_back(
        as_before ? parts.back()
                  : at::arange(ranges.first[head], ranges.first[head] + ranges.count[head], at::TensorOptions(device).dtype(at::kInt)));
  }
  return at::cat(parts);
}

std::vector<std::int32_t> counted(const SlotRanges& ranges) {
  std::vector<std::int32_t> numbers;
  for (std::size_t head = 0; head < ranges.count.size(); ++head) {
    for (std::int32_t i = 0; i < ranges.count[head]; ++i) numbers.push_back(ranges.first[head] + i);
  }
  return numbers;
}

// rows: of each head. sources: as many numbers.
ListedRows listed(const KvShape& shape, std::span<const SlotRows> rows, const SlotRanges& sources) {
  std::int64_t total = 0;
  std::int64_t stride = 1;
  for (const std::int32_t count : sources.count) {
    total += count;
    stride = std::max(stride, KvCache::blocks_for(count));
  }
  const std::int64_t block_bytes = KvCache::kBlockSlots * shape.slot_bytes() / 2;
  const std::int64_t pointers = 2 * std::ssize(rows) * stride;
  const std::vector<std::int32_t> told = total > kMostTold ? std::vector<std::int32_t>() : counted(sources);
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(pointers) + (told.size() + 1) / 2, 0);
  const auto list = [&](const at::Tensor& part, std::size_t at) {
    const auto first = reinterpret_cast<std::int64_t>(part.const_data_ptr());
    for (std::int64_t block = 0; block < KvCache::blocks_for(part.size(0)); ++block) {
      numbers[at * static_cast<std::size_t>(stride) + static_cast<std::size_t>(block)] = first + block * block_bytes;
    }
  };
  for (std::size_t head = 0; head < rows.size(); ++head) {
    list(rows[head].keys, head);
    list(rows[head].values, rows.size() + head);
  }
  if (!told.empty()) std::memcpy(numbers.data() + pointers, told.data(), told.size() * sizeof(std::int32_t));
  ListedRows listed{.numbers = numbers_on(shape.device, numbers)};
  const auto* const there = listed.numbers.const_data_ptr<std::int64_t>();
  const auto* const keys = reinterpret_cast<void* const*>(there);
  listed.blocks = {keys, keys + std::ssize(rows) * stride, stride};
  listed.sources = reinterpret_cast<const std::int32_t*>(there + pointers);
  if (told.empty()) {
    listed.slots = counted_there(shape.device, sources);
    listed.sources = listed.slots.const_data_ptr<std::int32_t>();
  }
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
  const ListedRows to = listed(shape, rows, ranges);
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
  const std::vector<std::int32_t> none(rows.size(), 0);
  const ListedRows from = listed(shape, pieces(all_keys, all_values, written.count), {none, written.count});
  move_slots(shape, from.blocks, from.sources, to, written);
}

}  // namespace winnow
