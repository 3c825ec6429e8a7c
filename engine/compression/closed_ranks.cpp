#include "engine/compression/closed_ranks.h"

#include <algorithm>

#include "engine/device/host_numbers.h"
#include "engine/layers/rotary.h"

namespace winnow {

namespace {

// Rotation is linear: what a key is without its bias is rotated as it is, and its bias with it.
void rotate(SlotRows& rows, const at::Tensor& rotations, const RotaryScheme& rotary) {
  const at::Tensor keys = rows.keys.to(at::kFloat);
  rows.keys = rotated_keys(keys, rotations.to(keys.options()), rotary);
  if (rows.positions.defined()) rows.positions = at::where(rows.positions.lt(0), rows.positions, rows.positions + rotations.to(at::kLong));
}

}  // namespace

void move_keys(KvCache& cache, LayerId layer, KvHead kv_head, const at::Tensor& rotations) {
  // Usually the newest slots, behind the last gap, stay as they are.
  const at::Tensor moving = rotations.ne(0).any(0).nonzero();
  if (moving.numel() == 0) return;
  const std::int64_t count = moving.max().item<std::int64_t>() + 1;
  SlotRows rows = StoredSlots::read(cache, layer, kv_head, count);
  rotate(rows, rotations.narrow(1, 0, count), cache.shape().rotary);
  StoredSlots::write(cache, layer, kv_head, 0, rows);
}

MovingKeys::MovingKeys(const KvCache& cache, LayerId layer, KvHead kv_head, std::vector<std::int64_t> slots)
    : slots_(std::move(slots)), moved_(slots_.size(), 0) {
  if (slots_.empty()) return;
  const std::span<const std::int32_t> original = cache.original(layer, kv_head);
  for (const std::int64_t slot : slots_) original_.push_back(original[static_cast<std::size_t>(slot)]);
  const SlotRows rows = StoredSlots::read(cache, layer, kv_head, std::ranges::max(slots_) + 1);
  const at::Tensor index = numbers_on(cache.shape().device, slots_);
  first_.keys = rows.keys.index_select(0, index).to(at::kFloat);
  if (rows.positions.defined()) first_.positions = rows.positions.index_select(1, index);
}

void MovingKeys::after_leaving(KvCache& cache, LayerId layer, KvHead kv_head, std::span<const std::int32_t> tokens) {
  bool any = false;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const auto newer = std::count_if(tokens.begin(), tokens.end(), [&](std::int32_t token) { return token > original_[i]; });
    moved_[i] += newer;
    any = any || newer > 0;
  }
  if (!any) return;
  SlotRows rows = first_;
  rotate(rows, at::tensor(moved_, at::kLong).unsqueeze(0), cache.shape().rotary);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    SlotRows row{rows.keys.narrow(0, at, 1), cache.row_views(layer, kv_head, slots_[i]).second.unsqueeze(0).clone()};
    if (rows.positions.defined()) row.positions = rows.positions.narrow(1, at, 1);
    StoredSlots::write(cache, layer, kv_head, slots_[i], row);
  }
}

}  // namespace winnow
