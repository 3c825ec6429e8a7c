#include "engine/kv_cache/device_heads.h"

#include <algorithm>

#include "engine/device/host_numbers.h"

namespace winnow {

namespace {

SlotChanges::Row row_of(const CachedHead& head, std::int64_t slot) {
  return {head.blocks[static_cast<std::size_t>(slot / KvCache::kBlockSlots)].get(), slot % KvCache::kBlockSlots};
}

}  // namespace

DeviceHeads::DeviceHeads(const KvShape& shape)
    : shape_(shape), tables_(PerLayer<BlockTable>::of(shape.layers)), numbers_(PerLayer<KeptNumbers>::of(shape.layers)) {}

void DeviceHeads::note_move(std::size_t index, const CachedHead& head, std::int64_t from, std::int64_t to) {
  changes_.note_move(index, row_of(head, from), row_of(head, to));
}

void DeviceHeads::note_inflow(std::size_t index, const CachedHead& head, const Inflow& inflow) {
  changes_.note_inflow(index, row_of(head, inflow.from), row_of(head, inflow.into), inflow);
}

DeviceBlocks DeviceHeads::blocks_of(LayerId layer, Heads heads) {
  carry_out_changes();
  return tables_[layer].blocks_of(heads, shape_.device);
}

DeviceBlocks DeviceHeads::blocks_of(LayerId layer, Heads heads, KvHead kv_head) {
  DeviceBlocks blocks = blocks_of(layer, heads);
  blocks.key_blocks += kv_head * blocks.stride;
  blocks.value_blocks += kv_head * blocks.stride;
  return blocks;
}

DeviceNumbers DeviceHeads::numbers_of(LayerId layer, Heads heads, const std::function<std::vector<std::int32_t>()>& make) {
  std::vector<std::uint64_t> made_of;
  for (const CachedHead& head : heads) {
    made_of.push_back(head.table_state);
    // The same for a slot more whose token is the next one: what counts back from the newest token stays where it is.
    made_of.push_back(head.original.empty() ? 0 : static_cast<std::uint64_t>(std::ranges::max(head.original) - head.slots()));
  }
  return numbers_.at(layer).of(std::move(made_of), make, shape_.device);
}

void DeviceHeads::append(LayerId layer, Heads heads, const at::Tensor& key, const at::Tensor& value) {
  std::vector<std::int32_t> slots;
  for (const CachedHead& head : heads) slots.push_back(static_cast<std::int32_t>(head.slots()));
  append_rows(shape_, {blocks_of(layer, heads), std::move(slots)}, key, value);
}

void DeviceHeads::write(LayerId layer, Heads heads, const Slot& first, const SlotRows& rows) {
  if (rows.keys.size(0) == 0) return;
  KvShape of_head = shape_;
  of_head.kv_heads = 1;
  const auto typed = [&](const at::Tensor& part) { return part.to(shape_.device, shape_.dtype, /*non_blocking=*/true).unsqueeze(0); };
  append_rows(of_head, {blocks_of(layer, heads, first.kv_head), {static_cast<std::int32_t>(first.slot)}}, typed(rows.keys),
              typed(rows.values));
}

SlotRows DeviceHeads::read(LayerId layer, Heads heads, KvHead kv_head, std::int64_t count) {
  return read_slots(shape_, blocks_of(layer, heads, kv_head), {{0}, {static_cast<std::int32_t>(count)}}).front();
}

std::vector<SlotRows> DeviceHeads::read(LayerId layer, Heads heads, const SlotRanges& ranges) {
  return read_slots(shape_, blocks_of(layer, heads), ranges);
}

void DeviceHeads::write(LayerId layer, Heads heads, const std::vector<std::int32_t>& first, std::span<const SlotRows> rows) {
  write_slots(shape_, blocks_of(layer, heads), first, rows);
}

DeviceHeads::Move DeviceHeads::planned(LayerId layer, Heads heads, std::span<const std::optional<HeadMove>> moves) {
  Move planned{.from = blocks_of(layer, heads), .table = tables_[layer].pointers()};
  for (const CachedHead& head : heads) planned.blocks.insert(planned.blocks.end(), head.blocks.begin(), head.blocks.end());
  planned.written = {std::vector<std::int32_t>(heads.size(), 0), std::vector<std::int32_t>(heads.size(), 0)};
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (!moves[i]) continue;
    const HeadMove& move = *moves[i];
    planned.written.first[i] = static_cast<std::int32_t>(move.first_slot());
    planned.written.count[i] = static_cast<std::int32_t>(move.new_slots - move.first_slot());
    for (std::int64_t slot = move.first_slot(); slot < move.new_slots; ++slot) {
      planned.sources.push_back(static_cast<std::int32_t>(move.source(slot)));
    }
  }
  return planned;
}

void DeviceHeads::carry_out(const Move& move, LayerId layer, Heads heads) {
  if (move.sources.empty()) return;
  const at::Tensor rows = numbers_on(shape_.device, move.sources);
  move_slots(shape_, move.from, rows.const_data_ptr<std::int32_t>(), blocks_of(layer, heads), move.written);
}

}  // namespace winnow
