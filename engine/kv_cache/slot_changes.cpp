#include "engine/kv_cache/slot_changes.h"

#include <cstring>

#include "engine/device/cuda_plugin.h"
#include "engine/device/host_numbers.h"
#include "engine/kv_cache/element_type.h"

namespace winnow {

void SlotChanges::note(std::size_t head, const Row& from, const Row& to, kernels::SlotChange change) {
  of_heads_[head].push_back({from, to, change});
}

void SlotChanges::note_move(std::size_t head, const Row& from, const Row& to) { note(head, from, to, {}); }

void SlotChanges::note_inflow(std::size_t head, const Row& from, const Row& to, const Inflow& inflow) {
  kernels::SlotChange change;
  change.own = inflow.own;
  change.weight = inflow.weight;
  change.divisor = inflow.divisor;
  change.kind = inflow.value_only ? kernels::SlotChange::kReceivesValue : kernels::SlotChange::kReceives;
  note(head, from, to, change);
}

void SlotChanges::carry_out(const KvShape& shape) {
  if (empty()) return;
  const auto noted = std::exchange(of_heads_, {});
  std::vector<kernels::SlotChange> changes;
  std::vector<std::int32_t> begin;
  const std::int64_t row_bytes = shape.slot_bytes() / 2;
  for (const auto& [head, of_head] : noted) {
    begin.push_back(static_cast<std::int32_t>(changes.size()));
    for (const Noted& each : of_head) {
      kernels::SlotChange change = each.change;
      change.from_key = each.from.block->begin_of(KvPart::kKeys) + each.from.row * row_bytes;
      change.from_value = each.from.block->begin_of(KvPart::kValues) + each.from.row * row_bytes;
      change.to_key = each.to.block->begin_to_write(KvPart::kKeys) + each.to.row * row_bytes;
      change.to_value = each.to.block->begin_to_write(KvPart::kValues) + each.to.row * row_bytes;
      changes.push_back(change);
    }
  }
  begin.push_back(static_cast<std::int32_t>(changes.size()));
  // Both in one copy.
  constexpr std::size_t kWords = sizeof(kernels::SlotChange) / sizeof(std::int64_t);
  static_assert(kWords * sizeof(std::int64_t) == sizeof(kernels::SlotChange));
  std::vector<std::int64_t> words(changes.size() * kWords + (begin.size() + 1) / 2);
  std::memcpy(words.data(), changes.data(), changes.size() * sizeof(kernels::SlotChange));
  std::memcpy(words.data() + changes.size() * kWords, begin.data(), begin.size() * sizeof(std::int32_t));
  const at::Tensor there = numbers_on(shape.device, words);
  const auto* const first = there.const_data_ptr<std::int64_t>();

  kernels::CudaChangeSlotsArgs args;
  args.type = element_type(shape.row_type());
  args.head_dim = shape.head_dim;
  args.lists = std::ssize(noted);
  args.changes = reinterpret_cast<const kernels::SlotChange*>(first);
  args.begin = reinterpret_cast<const std::int32_t*>(first + changes.size() * kWords);
  require_launched(cuda_plugin().change_slots(&args), "slots of the cache that leave");
  dropped_.clear();
}

}  // namespace winnow
