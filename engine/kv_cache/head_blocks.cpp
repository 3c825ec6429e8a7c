#include "engine/kv_cache/head_blocks.h"

#include <iterator>
#include <utility>

namespace winnow {
namespace {

bool has_other_owner(const CachedHead& head, std::int64_t index) { return head.blocks[static_cast<std::size_t>(index)].use_count() > 1; }

bool begun_is_shared(const CachedHead& head) {
  return head.slots() % kSlotsOfBlock != 0 && has_other_owner(head, head.slots() / kSlotsOfBlock);
}

}  // namespace

HeadBlocks::HeadBlocks(const KvShape& shape)
    : shape_(shape), wide_(shape), pool_(std::make_shared<BlockPool>(shape)), block_bytes_(kSlotsOfBlock * shape.slot_bytes()) {
  if (!shape.device.is_cpu()) device_.emplace(shape);
  wide_.storage = shape.wide_type() == shape.dtype ? KvStorage::kWide : KvStorage::kHalf;
}

void HeadBlocks::note_changed(const CachedHead& head) {
  if (device_) device_->note_blocks_changed(head.layer);
}

void HeadBlocks::push(CachedHead& head, std::shared_ptr<KvBlock> block) {
  head.key_pointers.push_back(block->begin_of(KvPart::kKeys));
  head.value_pointers.push_back(block->begin_of(KvPart::kValues));
  head.blocks.push_back(std::move(block));
  note_changed(head);
  ++blocks_;
  note_peak(0);
}

void HeadBlocks::make_own(CachedHead& head, std::int64_t index, std::shared_ptr<KvBlock> own) {
  own = suited(std::move(own), shape_.wide_ends && head.is_wide(index));
  own->copy_all(*head.blocks[static_cast<std::size_t>(index)]);
  put(head, index, std::move(own));
}

void HeadBlocks::put(CachedHead& head, std::int64_t index, std::shared_ptr<KvBlock> block) {
  const auto at = static_cast<std::size_t>(index);
  std::swap(head.blocks[at], block);
  if (device_) device_->keep(std::move(block));
  head.key_pointers[at] = head.blocks[at]->begin_of(KvPart::kKeys);
  head.value_pointers[at] = head.blocks[at]->begin_of(KvPart::kValues);
  note_changed(head);
}

std::shared_ptr<KvBlock> HeadBlocks::suited(std::shared_ptr<KvBlock> fresh, bool wide) const {
  return wide ? std::make_shared<KvBlock>(wide_) : std::move(fresh);
}

void HeadBlocks::make_narrow(CachedHead& head, std::int64_t block) { put(head, block, pool_->take_one()); }

KvBlock& HeadBlocks::writable(CachedHead& head, std::int64_t block) {
  if (has_other_owner(head, block)) make_own(head, block, pool_->take_one());
  return *head.blocks[static_cast<std::size_t>(block)];
}

void HeadBlocks::make_writable(CachedHead& head, std::int64_t first_slot, std::int64_t count) {
  if (count == 0) return;
  for (std::int64_t block = first_slot / kSlotsOfBlock; block * kSlotsOfBlock < first_slot + count; ++block) writable(head, block);
}

// Gives every one as many blocks as it is missing. On a GPU those that begin heads lie together, as do those that end them: what stays of
// all of them holds little of what leaves (block_pool.h).
template <class Each, class Missing, class Give>
void HeadBlocks::in_turns(std::span<Each> all, const Missing& missing, const Give& give) const {
  for (bool some = true; some;) {
    some = false;
    for (Each& each : all) {
      while (missing(each) > 0) {
        give(each);
        some = true;
        if (device_) break;
      }
    }
  }
}

void HeadBlocks::make_room(std::span<CachedHead> heads, std::int64_t tokens) {
  const auto missing = [&](const CachedHead& head) {
    return std::max<std::int64_t>(0, KvCache::blocks_for(head.slots() + tokens) - std::ssize(head.blocks));
  };
  std::int64_t needed = 0;
  for (CachedHead& head : heads) {
    const std::size_t slots = head.original.size() + static_cast<std::size_t>(tokens);
    if (head.original.capacity() < slots) head.original.reserve(std::max(slots, 2 * head.original.capacity()));
    needed += missing(head) + (begun_is_shared(head) ? 1 : 0);
  }
  if (needed == 0) return;
  std::vector<std::shared_ptr<KvBlock>> fresh = pool_->take(needed);
  auto next = fresh.begin();
  for (CachedHead& head : heads) {
    if (begun_is_shared(head)) make_own(head, head.slots() / kSlotsOfBlock, std::move(*next++));
  }
  in_turns(heads, missing, [&](CachedHead& head) {
    push(head, suited(std::move(*next++), shape_.makes_wide(std::ssize(head.blocks), KvCache::blocks_for(head.slots() + tokens))));
  });
}

std::vector<std::shared_ptr<KvBlock>> HeadBlocks::take(std::int64_t first, std::int64_t blocks) {
  std::vector<std::shared_ptr<KvBlock>> fresh = pool_->take(blocks - first);
  for (std::shared_ptr<KvBlock>& block : fresh) block = suited(std::move(block), shape_.makes_wide(first++, blocks));
  note_peak(std::ssize(fresh));
  return fresh;
}

void HeadBlocks::take(std::vector<std::optional<HeadMove>>& moves) {
  const auto missing = [](const std::optional<HeadMove>& move) { return move ? move->blocks() - std::ssize(move->fresh) : 0; };
  std::int64_t needed = 0;
  for (const std::optional<HeadMove>& move : moves) needed += missing(move);
  std::vector<std::shared_ptr<KvBlock>> fresh = take(0, needed);
  auto next = fresh.begin();
  in_turns(std::span(moves), missing, [&](std::optional<HeadMove>& move) { move->fresh.push_back(std::move(*next++)); });
}

std::vector<std::shared_ptr<KvBlock>> HeadBlocks::replace(CachedHead& head, std::int64_t first,
                                                          std::vector<std::shared_ptr<KvBlock>> fresh) {
  const auto from = head.blocks.begin() + first;
  blocks_ -= std::distance(from, head.blocks.end());
  std::vector<std::shared_ptr<KvBlock>> before(std::make_move_iterator(from), std::make_move_iterator(head.blocks.end()));
  head.blocks.erase(from, head.blocks.end());
  head.key_pointers.resize(head.blocks.size());
  head.value_pointers.resize(head.blocks.size());
  note_changed(head);
  for (auto& block : fresh) push(head, std::move(block));
  return before;
}

void HeadBlocks::trim(CachedHead& head) {
  const auto needed = static_cast<std::size_t>(KvCache::blocks_for(head.slots()));
  if (head.blocks.size() <= needed) return;
  for (std::size_t block = needed; block < head.blocks.size() && device_; ++block) device_->keep(head.blocks[block]);
  blocks_ -= static_cast<std::int64_t>(head.blocks.size() - needed);
  head.blocks.resize(needed);
  head.key_pointers.resize(needed);
  head.value_pointers.resize(needed);
}

void HeadBlocks::restore(CachedHead& head, const CachedHead& earlier) {
  blocks_ += std::ssize(earlier.blocks) - std::ssize(head.blocks);
  head = earlier;
  note_changed(head);
}

}  // namespace winnow
