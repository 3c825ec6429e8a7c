#include "engine/kv_cache/host_rows.h"

#include <algorithm>

#include "engine/kv_cache/kv_block.h"
#include "engine/kv_cache/stored_rows.h"

namespace winnow {
namespace {

// Slots [slot, slot + count) of one block, which rows [first, first + count) belong to.
struct BlockRun {
  std::int64_t slot = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

template <class Each>
void in_block_runs(std::int64_t first_slot, std::int64_t count, const Each& each) {
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t slot = first_slot + done;
    const BlockRun run{slot, done, std::min(kSlotsOfBlock - slot % kSlotsOfBlock, count - done)};
    each(run);
    done += run.count;
  }
}

const KvBlock& block_of(const CachedHead& head, std::int64_t slot) { return *head.blocks[static_cast<std::size_t>(slot / kSlotsOfBlock)]; }

// Rotations of some slots of a head that stores its keys without their bias.
template <class Head>
auto rotations_of(Head& head, std::int64_t slot, std::int64_t count) {
  return std::span(head.rotations).subspan(static_cast<std::size_t>(slot), static_cast<std::size_t>(count));
}

}  // namespace

HostRows::HostRows(const KvShape& shape) : shape_(shape) {
  if (shape.row_codes() && shape.key_bias) rotations_ = std::make_shared<KeyRotations>(shape.key_bias);
}

std::vector<std::int32_t> HostRows::rotations_at(const at::Tensor& positions, std::int64_t count) {
  if (positions.defined()) return rotations_->at(positions);
  return std::vector<std::int32_t>(static_cast<std::size_t>(count), KeyRotations::kNone);
}

void HostRows::append(std::span<CachedHead> heads, const SlotRows& rows) {
  // All heads at once: a tensor for each row would take longer than its numbers. Biased keys are rounded without their bias.
  const bool half = shape_.storage == KvStorage::kHalf || (shape_.wide_ends && shape_.wide_type() != shape_.dtype);
  const at::Tensor keys = half && heads.front().key_bias == nullptr ? in_half(rows.keys) : rows.keys;
  const at::Tensor values = half ? in_half(rows.values) : rows.values;
  std::vector<std::int32_t> rotations;
  if (heads.front().key_bias != nullptr) rotations = rotations_at(rows.positions, keys.size(1));
  for (CachedHead& head : heads) {
    const std::int64_t i = &head - heads.data();
    head.rotations.insert(head.rotations.end(), rotations.begin(), rotations.end());
    write(head, head.slots(), {keys.select(0, i), values.select(0, i)});
  }
}

void HostRows::write(CachedHead& head, std::int64_t first_slot, const SlotRows& rows) const {
  const HeadBias bias = bias_of(head);
  in_block_runs(first_slot, rows.keys.size(0), [&](const BlockRun& run) {
    KvBlock& block = *head.blocks[static_cast<std::size_t>(run.slot / kSlotsOfBlock)];
    const std::int64_t row = run.slot % kSlotsOfBlock;
    block.write(KvPart::kValues, row, rows.values, run.first, run.count);
    if (!bias || rows.positions.defined()) return block.write(KvPart::kKeys, row, rows.keys, run.first, run.count);
    write_unbiased_keys(block, row, rows.keys.narrow(0, run.first, run.count), bias, rotations_of(head, run.slot, run.count));
  });
}

void HostRows::write_stored(CachedHead& head, std::int64_t first_slot, const SlotRows& rows) {
  if (bias_of(head)) std::ranges::copy(rotations_at(rows.positions, rows.keys.size(0)), head.rotations.begin() + first_slot);
  write(head, first_slot, rows);
}

at::Tensor HostRows::read(const CachedHead& head, KvPart part, std::int64_t slot, std::int64_t count) const {
  const HeadBias bias = part == KvPart::kKeys ? bias_of(head) : HeadBias();
  if (!bias) return block_of(head, slot).rows(part, slot % kSlotsOfBlock, count);
  const at::Tensor wide = at::empty({count, shape_.head_dim}, shape_.dtype);
  read_unbiased_keys(block_of(head, slot), slot % kSlotsOfBlock, bias, rotations_of(head, slot, count), wide);
  return wide;
}

at::Tensor HostRows::gather(const CachedHead& head, KvPart part, std::int64_t count) const {
  const HeadBias bias = part == KvPart::kKeys ? bias_of(head) : HeadBias();
  if (!bias) return stored(head, part, count, shape_.dtype);
  const at::Tensor rows = at::empty({count, shape_.head_dim}, shape_.dtype);
  in_block_runs(0, count, [&](const BlockRun& run) {
    read_unbiased_keys(block_of(head, run.slot), 0, bias, rotations_of(head, run.slot, run.count), rows.narrow(0, run.first, run.count));
  });
  return rows;
}

at::Tensor HostRows::stored(const CachedHead& head, KvPart part, std::int64_t count, at::ScalarType type) const {
  const bool upcast = shape_.storage != KvStorage::kWide;
  const at::Tensor rows = at::empty({upcast ? count : 0, shape_.head_dim}, type);
  std::vector<at::Tensor> pieces;
  in_block_runs(0, count, [&](const BlockRun& run) {
    const KvBlock& block = block_of(head, run.slot);
    if (upcast) {
      block.upcast(part, 0, rows.narrow(0, run.first, run.count));
    } else {
      pieces.push_back(block.rows(part, 0, run.count));
    }
  });
  return pieces.empty() ? rows : at::cat(pieces);
}

SlotRows HostRows::gather_stored(const CachedHead& head, std::int64_t count) const {
  const at::ScalarType type = shape_.exact_type();
  SlotRows rows{stored(head, KvPart::kKeys, count, type), stored(head, KvPart::kValues, count, type)};
  if (bias_of(head)) rows.positions = rotations_->positions(rotations_of(head, 0, count));
  return rows;
}

UnstoredBias HostRows::unstored_bias(const CachedHead& head) const {
  return bias_of(head) ? UnstoredBias{head.key_bias, rotations_.get(), head.rotations} : UnstoredBias();
}

}  // namespace winnow
