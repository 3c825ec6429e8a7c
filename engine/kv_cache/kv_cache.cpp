#include "engine/kv_cache/kv_cache.h"

#include <atomic>
#include <optional>

#include "engine/base/error.h"
#include "engine/kv_cache/cached_head.h"
#include "engine/kv_cache/device_heads.h"
#include "engine/kv_cache/head_blocks.h"
#include "engine/kv_cache/head_move.h"
#include "engine/kv_cache/host_rows.h"

namespace winnow {

namespace {

constexpr std::int64_t kBlockSlots = KvCache::kBlockSlots;

// The head's table, or which slot it names by a number, is another one from now on.
void note_table_changed(CachedHead& head) {
  static std::atomic<std::uint64_t> states{0};
  head.table_state = ++states;
}

}  // namespace

class KvCache::Impl {
 public:
  explicit Impl(const KvShape& shape) : shape_(shape), blocks_(shape), rows_(shape), states_(shape) {
    require(shape.layers > 0 && shape.kv_heads > 0 && shape.head_dim > 0, "KvCache: layers, heads and head size must be positive");
    require(shape.storage == KvStorage::kWide || shape.device.is_cpu(), "KvCache: rows in fewer bits are for the CPU");
    require(shape.storage != KvStorage::kHalf || shape.dtype == at::kFloat, "KvCache: rows in fp16 are for arithmetic in fp32");
    for (LayerId layer{0}; layer < shape.layers; ++layer) {
      const float* const bias = shape.takes_bias(layer) ? shape.key_bias->of(layer).const_data_ptr<float>() : nullptr;
      for (KvHead head{0}; head < shape.kv_heads; ++head) {
        CachedHead& added = heads_.emplace_back();
        added.layer = layer;
        added.kv_head = head;
        if (bias != nullptr) added.key_bias = bias + head * shape.head_dim;
      }
    }
    if (shape.sliding == nullptr) return;
    require(shape.sliding_with.layers() == shape.layers, "KvCache: a count of layers with a window for each layer");
    sliding_.emplace(shape.sliding_shape());
  }

  CachedHead& head(LayerId layer, KvHead kv_head) {
    require(layer >= 0 && layer < shape_.layers, "KvCache: no such layer");
    require(kv_head >= 0 && kv_head < shape_.kv_heads, "KvCache: no such kv head");
    return heads_[static_cast<std::size_t>(layer * shape_.kv_heads + kv_head)];
  }

  std::span<CachedHead> heads_of(LayerId layer) { return {&head(layer, KvHead(0)), static_cast<std::size_t>(shape_.kv_heads)}; }

  std::size_t index_of(const CachedHead& head) const { return static_cast<std::size_t>(&head - heads_.data()); }

  DeviceHeads* device() { return blocks_.device(); }

  DeviceHeads& there() {
    require(device() != nullptr, "KvCache: this cache lies in the memory of the CPU");
    return *device();
  }

  void append(LayerId layer, const SlotRows& rows, std::span<const std::int32_t> original) {
    const auto t = static_cast<std::int64_t>(original.size());
    for (const at::Tensor* tensor : {&rows.keys, &rows.values}) {
      require(tensor->dim() == 3 && tensor->size(0) == shape_.kv_heads && tensor->size(1) == t && tensor->size(2) == shape_.head_dim,
              "KvCache::append: key and value must be [kv_heads, t, head_dim] with one original index per token");
      require(tensor->scalar_type() == shape_.dtype && tensor->device() == shape_.device,
              "KvCache::append: dtype and device must be the cache's");
    }
    if (t == 0) return;
    const std::span<CachedHead> heads = heads_of(layer);
    blocks_.make_room(heads, t);
    if (device() != nullptr) {
      device()->append(layer, heads, rows.keys, rows.values);
    } else {
      for (CachedHead& h : heads) round_old_blocks(h);
      rows_.append(heads, rows);
    }
    for (CachedHead& h : heads) h.original.insert(h.original.end(), original.begin(), original.end());
  }

  // Wide blocks that are among the newest no longer become codes.
  void round_old_blocks(CachedHead& h) {
    for (std::int64_t block = 1; shape_.wide_ends && block < std::ssize(h.blocks) - KvShape::kNewestWide; ++block) {
      if (!h.is_wide(block)) continue;
      const std::int64_t first = block * kBlockSlots;
      const std::int64_t count = std::min(kBlockSlots, h.slots() - first);
      if (count <= 0) {
        blocks_.make_narrow(h, block);
        continue;
      }
      const SlotRows rows{rows_.read(h, KvPart::kKeys, first, count), rows_.read(h, KvPart::kValues, first, count)};
      blocks_.make_narrow(h, block);
      rows_.write(h, first, rows);
    }
  }

  // The head is what the move leaves.
  void settle(CachedHead& h, HeadMove& move) {
    note_table_changed(h);
    for (std::int64_t slot = move.start; slot < move.new_slots; ++slot) {
      h.original[static_cast<std::size_t>(slot)] = h.original[static_cast<std::size_t>(move.source(slot))];
      if (!h.rotations.empty()) h.rotations[static_cast<std::size_t>(slot)] = h.rotations[static_cast<std::size_t>(move.source(slot))];
    }
    if (!h.rotations.empty()) h.rotations.resize(static_cast<std::size_t>(move.new_slots));
    h.original.resize(static_cast<std::size_t>(move.new_slots));
    h.original.shrink_to_fit();
    blocks_.replace(h, move.first_block, std::move(move.fresh));
  }

  // candidates(head): how many of its last slots the plan is about.
  template <class CandidatesOf>
  void compact(LayerId layer, const LayerPlan& plan, const CandidatesOf& candidates) {
    require(static_cast<std::int64_t>(plan.kept.size()) == shape_.kv_heads, "KvCache::compact: one kept list per kv head");
    const std::span<CachedHead> heads = heads_of(layer);
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const auto& kept = plan.kept[i];
      const std::int64_t count = candidates(heads[i]);
      require(count >= 0 && count <= heads[i].slots(), "KvCache::compact: the segment is longer than the head");
      for (std::size_t j = 0; j < kept.size(); ++j) {
        require(kept[j] >= 0 && kept[j] < count && (j == 0 || kept[j] > kept[j - 1]),
                "KvCache::compact: kept rows must be ascending and inside the segment");
      }
    }
    std::vector<std::optional<HeadMove>> moves(heads.size());
    for (std::size_t i = 0; i < heads.size(); ++i) {
      moves[i] = move_of(heads[i], candidates(heads[i]), plan.kept[i]);
      if (!moves[i] || device() != nullptr) continue;
      moves[i]->fresh = blocks_.take(moves[i]->first_block, blocks_for(moves[i]->new_slots));
      gather_in_runs(heads[i], *moves[i]);
      settle(heads[i], *moves[i]);
      round_old_blocks(heads[i]);
    }
    if (device() == nullptr) return;
    blocks_.take(moves);
    const DeviceHeads::Move planned = device()->planned(layer, heads, moves);
    for (std::size_t i = 0; i < heads.size(); ++i) {
      if (moves[i]) settle(heads[i], *moves[i]);
    }
    device()->carry_out(planned, layer, heads);
  }

  void assign(CachedHead& h, const SlotRows& rows, std::span<const std::int32_t> original) {
    const auto count = static_cast<std::int64_t>(original.size());
    require(rows.keys.dim() == 2 && rows.keys.size(0) == count && rows.keys.size(1) == shape_.head_dim &&
                rows.keys.sizes() == rows.values.sizes(),
            "KvCache::assign: K and V must be [k, head_dim] with one original index per slot");
    for (const at::Tensor& part : {rows.keys, rows.values})
      require(part.scalar_type() == shape_.dtype || part.scalar_type() == shape_.exact_type(),
              "KvCache::assign: dtype must be the cache's");
    carry_out_changes();
    CachedHead assigned{.key_bias = h.key_bias, .blocks = blocks_.take(0, blocks_for(count))};
    assigned.rotations.assign(h.key_bias != nullptr ? static_cast<std::size_t>(count) : 0, KeyRotations::kNone);
    if (device() == nullptr) rows_.write(assigned, 0, rows);
    h.rotations = std::move(assigned.rotations);
    h.shared.reset();
    note_table_changed(h);
    h.original.assign(original.begin(), original.end());
    const auto before = blocks_.replace(h, 0, std::move(assigned.blocks));  // what is written may be read there
    if (device() != nullptr) device()->write(h.layer, heads_of(h.layer), {h.kv_head, 0}, rows);
  }

  void restore(LayerId layer, Impl& earlier) {
    earlier.carry_out_changes();
    carry_out_changes();
    const std::span<CachedHead> before = earlier.heads_of(layer);
    for (CachedHead& head : heads_of(layer)) blocks_.restore(head, before[static_cast<std::size_t>(head.kv_head)]);
    states_.restore(layer, earlier.states_);
    if (!sliding_) return;
    LayerId first{0};
    for (LayerId other{0}; other < layer; ++other) first = LayerId(first + shape_.sliding_with[other]);
    for (LayerId own = first; own < first + shape_.sliding_with[layer]; ++own) WholeLayer::restore(*sliding_, own, *earlier.sliding_);
  }

  void evict(CachedHead& h, std::int64_t slot) {
    require(slot >= 0 && slot < h.slots(), "KvCache::evict: no such slot");
    const std::int64_t last = h.slots() - 1;
    if (slot != last) {
      KvBlock& to = blocks_.writable(h, slot / kBlockSlots);
      if (device() != nullptr) {
        device()->note_move(index_of(h), h, last, slot);
      } else {
        to.copy_slots(slot % kBlockSlots, *h.blocks[static_cast<std::size_t>(last / kBlockSlots)], last % kBlockSlots, 1);
      }
      h.original[static_cast<std::size_t>(slot)] = h.original.back();
      if (!h.rotations.empty()) h.rotations[static_cast<std::size_t>(slot)] = h.rotations.back();
    }
    if (h.shared) {
      require(!h.shared->names(static_cast<std::int32_t>(slot)), "KvCache::evict: tokens still share this slot");
      h.shared->rename(static_cast<std::int32_t>(last), static_cast<std::int32_t>(slot));
      note_table_changed(h);
    }
    h.original.pop_back();
    if (!h.rotations.empty()) h.rotations.pop_back();
    blocks_.trim(h);
  }

  void receive(CachedHead& h, const Inflow& inflow) {
    DeviceHeads& gpu = there();
    for (const std::int64_t slot : {inflow.from, inflow.into}) require(slot >= 0 && slot < h.slots(), "DeviceSide::receive: no such slot");
    blocks_.writable(h, inflow.into / kBlockSlots);
    gpu.note_inflow(index_of(h), h, inflow);
  }

  void* key_to_write(CachedHead& h, std::int64_t slot) {
    require(slot >= 0 && slot < h.slots(), "DeviceSide::key_to_write: no such slot");
    there().carry_out_changes();
    return blocks_.writable(h, slot / kBlockSlots).begin_to_write(KvPart::kKeys) + slot % kBlockSlots * (shape_.slot_bytes() / 2);
  }

  // Before a slot is read or written.
  void carry_out_changes() {
    if (device() != nullptr) device()->carry_out_changes();
  }

  // Checks the rows and gives their slots blocks of their own.
  void begin_write(CachedHead& h, std::int64_t first_slot, const SlotRows& rows) {
    const at::Tensor& keys = rows.keys;
    require(keys.dim() == 2 && keys.size(1) == shape_.head_dim && keys.sizes() == rows.values.sizes(),
            "KvCache::write: K and V must be [k, head_dim]");
    require(first_slot >= 0 && first_slot + keys.size(0) <= h.slots(), "KvCache::write: no such slots");
    carry_out_changes();
    blocks_.make_writable(h, first_slot, keys.size(0));
  }

  void write(CachedHead& h, std::int64_t first_slot, const SlotRows& rows) {
    begin_write(h, first_slot, rows);
    if (device() != nullptr) return device()->write(h.layer, heads_of(h.layer), {h.kv_head, first_slot}, rows);
    rows_.write(h, first_slot, rows);
  }

  void write_unbiased(CachedHead& h, std::int64_t first_slot, const SlotRows& rows) {
    if (device() != nullptr) return write(h, first_slot, rows);
    begin_write(h, first_slot, rows);
    rows_.write_stored(h, first_slot, rows);
  }

  // Before the head's first `count` slots (all if negative) are read. Returns their number.
  std::int64_t begin_gather(const CachedHead& h, std::int64_t count) {
    carry_out_changes();
    require(count <= h.slots(), "KvCache::gather: more slots than the head has");
    return count < 0 ? h.slots() : count;
  }

  at::Tensor gather(const CachedHead& h, KvPart part, std::int64_t count) {
    count = begin_gather(h, count);
    if (device() == nullptr) return rows_.gather(h, part, count);
    const SlotRows rows = device()->read(h.layer, heads_of(h.layer), h.kv_head, count);
    return part == KvPart::kKeys ? rows.keys : rows.values;
  }

  SlotRows unbiased_slots(const CachedHead& h, std::int64_t count) {
    count = begin_gather(h, count);
    return device() == nullptr ? rows_.gather_stored(h, count) : device()->read(h.layer, heads_of(h.layer), h.kv_head, count);
  }

  std::vector<SlotRows> last_slots(LayerId layer, std::span<const std::int64_t> counts) {
    const std::span<CachedHead> heads = heads_of(layer);
    require(std::ssize(counts) == shape_.kv_heads, "WholeLayer::last: one count per kv head");
    SlotRanges ranges;
    std::vector<SlotRows> rows;
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const std::int64_t first = heads[i].slots() - counts[i];
      require(counts[i] >= 0 && first >= 0, "WholeLayer::last: more slots than the head has");
      ranges.first.push_back(static_cast<std::int32_t>(first));
      ranges.count.push_back(static_cast<std::int32_t>(counts[i]));
      if (device() != nullptr) continue;
      const auto part = [&](KvPart of) {
        return counts[i] == 0 ? gather(heads[i], of, 0) : gather(heads[i], of, -1).narrow(0, first, counts[i]);
      };
      rows.push_back({part(KvPart::kKeys), part(KvPart::kValues)});
    }
    return device() != nullptr ? device()->read(layer, heads, ranges) : rows;
  }

  void write_last_slots(LayerId layer, std::span<const SlotRows> rows) {
    const std::span<CachedHead> heads = heads_of(layer);
    require(std::ssize(rows) == shape_.kv_heads, "WholeLayer::write_last: rows of every kv head");
    std::vector<std::int32_t> first;
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const std::int64_t slot = heads[i].slots() - rows[i].keys.size(0);
      first.push_back(static_cast<std::int32_t>(slot));
      begin_write(heads[i], slot, rows[i]);
      if (device() == nullptr) rows_.write(heads[i], slot, rows[i]);
    }
    if (device() != nullptr) device()->write(layer, heads, first, rows);
  }

  KvShape shape_;
  HeadBlocks blocks_;
  HostRows rows_;
  std::vector<CachedHead> heads_;  // [layers * kv_heads]
  LayerStates states_;
  std::optional<KvCache> sliding_;  // none without shape_.sliding
};

KvCache::KvCache(const KvShape& shape) : impl_(std::make_unique<Impl>(shape)) {}
KvCache::~KvCache() = default;
KvCache::KvCache(KvCache&&) noexcept = default;
KvCache::KvCache(const KvCache& other) {
  other.impl_->carry_out_changes();
  impl_ = std::make_unique<Impl>(*other.impl_);
  impl_->blocks_.reset_peak();
}
KvCache& KvCache::operator=(KvCache&&) noexcept = default;

const KvShape& KvCache::shape() const { return impl_->shape_; }

std::int64_t KvCache::slots(LayerId layer, KvHead kv_head) const { return impl_->head(layer, kv_head).slots(); }

void KvCache::append(LayerId layer, const at::Tensor& key, const at::Tensor& value, std::span<const std::int32_t> original,
                     const at::Tensor& positions) {
  impl_->append(layer, {key, value, positions}, original);
}

void KvCache::compact(LayerId layer, std::int64_t segment_tokens, const LayerPlan& plan) {
  impl_->compact(layer, plan, [&](const CachedHead&) { return segment_tokens; });
}

void KvCache::compact_all(LayerId layer, const LayerPlan& plan) {
  impl_->compact(layer, plan, [](const CachedHead& h) { return h.slots(); });
}

void KvCache::assign(LayerId layer, KvHead kv_head, const at::Tensor& keys, const at::Tensor& values,
                     std::span<const std::int32_t> original) {
  impl_->assign(impl_->head(layer, kv_head), {keys, values}, original);
}

void KvCache::evict(LayerId layer, KvHead kv_head, std::int64_t slot) { impl_->evict(impl_->head(layer, kv_head), slot); }

void KvCache::write(LayerId layer, KvHead kv_head, std::int64_t first_slot, const at::Tensor& keys, const at::Tensor& values) {
  impl_->write(impl_->head(layer, kv_head), first_slot, {keys, values});
}

std::pair<at::Tensor, at::Tensor> KvCache::row_views(LayerId layer, KvHead kv_head, std::int64_t slot) const {
  const CachedHead& h = impl_->head(layer, kv_head);
  require(slot >= 0 && slot < h.slots(), "KvCache::row_views: no such slot");
  impl_->carry_out_changes();
  return {impl_->rows_.read(h, KvPart::kKeys, slot, 1).select(0, 0), impl_->rows_.read(h, KvPart::kValues, slot, 1).select(0, 0)};
}

at::Tensor KvCache::block_view(LayerId layer, KvHead kv_head, KvPart part, std::int64_t block) const {
  const CachedHead& h = impl_->head(layer, kv_head);
  const std::int64_t first = block * kBlockSlots;
  require(block >= 0 && first < h.slots(), "KvCache::block_view: no such block");
  impl_->carry_out_changes();
  return impl_->rows_.read(h, part, first, std::min(kBlockSlots, h.slots() - first));
}

std::span<const std::int32_t> KvCache::original(LayerId layer, KvHead kv_head) const { return impl_->head(layer, kv_head).original; }

at::Tensor KvCache::gather_keys(LayerId layer, KvHead kv_head, std::int64_t count) const {
  return impl_->gather(impl_->head(layer, kv_head), KvPart::kKeys, count);
}

at::Tensor KvCache::gather_values(LayerId layer, KvHead kv_head, std::int64_t count) const {
  return impl_->gather(impl_->head(layer, kv_head), KvPart::kValues, count);
}

std::span<const void* const> KvCache::key_blocks(LayerId layer, KvHead kv_head) const { return impl_->head(layer, kv_head).key_pointers; }

std::span<const void* const> KvCache::value_blocks(LayerId layer, KvHead kv_head) const {
  return impl_->head(layer, kv_head).value_pointers;
}

const SharedEntries* KvCache::shared_entries(LayerId layer, KvHead kv_head) const {
  const CachedHead& h = impl_->head(layer, kv_head);
  return h.shared ? &*h.shared : nullptr;
}

SharedEntries* KvCache::shared_entries(LayerId layer, KvHead kv_head) {
  CachedHead& h = impl_->head(layer, kv_head);
  note_table_changed(h);  // whoever may change it
  return h.shared ? &*h.shared : nullptr;
}

void KvCache::set_shared_entries(LayerId layer, KvHead kv_head, SharedEntries entries) {
  CachedHead& h = impl_->head(layer, kv_head);
  require(entries.slot.size() == entries.size() && entries.norm.size() == entries.size(), "KvCache: a slot and a norm per shared token");
  for (std::size_t i = 0; i < entries.size(); ++i) {
    require(entries.slot[i] == SharedEntries::kZero || (entries.slot[i] >= 0 && entries.slot[i] < h.slots()),
            "KvCache: a shared token's slot is not there");
    require(i == 0 || entries.original[i] > entries.original[i - 1], "KvCache: shared tokens ascend by original index");
  }
  h.shared = std::move(entries);
  note_table_changed(h);
}

bool KvCache::has_shared_entries(LayerId layer) const {
  return std::ranges::any_of(impl_->heads_of(layer), [](const CachedHead& head) { return head.shared.has_value(); });
}

KvCache KvCache::fork() const { return *this; }

KvCache KvCache::on_device(at::Device device) const {
  if (device == shape().device) return fork();
  KvShape there = shape();
  there.device = device;
  KvCache copy(there);
  for (LayerId layer{0}; layer < there.layers; ++layer) {
    for (KvHead head{0}; head < there.kv_heads; ++head) {
      copy.assign(layer, head, gather_keys(layer, head).to(device), gather_values(layer, head).to(device), original(layer, head));
      if (const SharedEntries* table = shared_entries(layer, head)) copy.set_shared_entries(layer, head, *table);
    }
  }
  copy.impl_->states_.copy_from(impl_->states_);
  if (impl_->sliding_) copy.impl_->sliding_.emplace(impl_->sliding_->on_device(device));
  return copy;
}

std::int64_t KvCache::bytes_in_use(LayerId layer) const {
  std::int64_t slots = 0;
  for (const CachedHead& head : impl_->heads_of(layer)) slots += head.slots();
  return slots * impl_->shape_.slot_bytes();
}

std::int64_t KvCache::bytes_in_use() const {
  std::int64_t bytes = 0;
  for (LayerId layer{0}; layer < impl_->shape_.layers; ++layer) bytes += bytes_in_use(layer);
  return bytes;
}

std::int64_t KvCache::bytes_metadata() const {
  std::int64_t bytes = 0;
  for (const CachedHead& h : impl_->heads_) {
    bytes += h.slots() * static_cast<std::int64_t>(sizeof(std::int32_t));
    bytes += static_cast<std::int64_t>(h.rotations.size() * sizeof(std::int32_t));
    if (h.shared) bytes += static_cast<std::int64_t>(h.shared->size() * (2 * sizeof(std::int32_t) + sizeof(float)));
  }
  return bytes + impl_->rows_.rotation_bytes();
}

std::int64_t KvCache::bytes_allocated() const { return impl_->blocks_.bytes(); }
std::int64_t KvCache::bytes_peak() const { return impl_->blocks_.peak_bytes(); }
void KvCache::reset_peak() { impl_->blocks_.reset_peak(); }

LayerStates& KvCache::states() { return impl_->states_; }
const LayerStates& KvCache::states() const { return impl_->states_; }

KvCache* KvCache::sliding() { return impl_->sliding_ ? &*impl_->sliding_ : nullptr; }
const KvCache* KvCache::sliding() const { return impl_->sliding_ ? &*impl_->sliding_ : nullptr; }

void WholeLayer::restore(KvCache& cache, LayerId layer, const KvCache& earlier) {
  require(cache.shape().layers == earlier.shape().layers && cache.shape().kv_heads == earlier.shape().kv_heads,
          "WholeLayer::restore: another cache's layer");
  cache.impl_->restore(layer, *earlier.impl_);
}

std::vector<SlotRows> WholeLayer::last(const KvCache& cache, LayerId layer, std::span<const std::int64_t> counts) {
  return cache.impl_->last_slots(layer, counts);
}

void WholeLayer::write_last(KvCache& cache, LayerId layer, std::span<const SlotRows> rows) { cache.impl_->write_last_slots(layer, rows); }

SlotRows StoredSlots::read(const KvCache& cache, LayerId layer, KvHead kv_head, std::int64_t count) {
  return cache.impl_->unbiased_slots(cache.impl_->head(layer, kv_head), count);
}

void StoredSlots::write(KvCache& cache, LayerId layer, KvHead kv_head, std::int64_t first_slot, const SlotRows& rows) {
  cache.impl_->write_unbiased(cache.impl_->head(layer, kv_head), first_slot, rows);
}

UnstoredBias StoredSlots::bias(const KvCache& cache, LayerId layer, KvHead kv_head) {
  return cache.impl_->rows_.unstored_bias(cache.impl_->head(layer, kv_head));
}

bool StoredSlots::is_wide(const KvCache& cache, LayerId layer, KvHead kv_head, std::int64_t block) {
  return cache.shape().wide_ends && cache.impl_->head(layer, kv_head).is_wide(block);
}

DeviceBlocks DeviceSide::blocks(const KvCache& cache, LayerId layer) {
  return cache.impl_->there().blocks_of(layer, cache.impl_->heads_of(layer));
}

DeviceNumbers DeviceSide::numbers(const KvCache& cache, LayerId layer, const std::function<std::vector<std::int32_t>()>& make) {
  return cache.impl_->there().numbers_of(layer, cache.impl_->heads_of(layer), make);
}

void* DeviceSide::key_to_write(KvCache& cache, LayerId layer, KvHead kv_head, std::int64_t slot) {
  return cache.impl_->key_to_write(cache.impl_->head(layer, kv_head), slot);
}

void DeviceSide::receive(KvCache& cache, LayerId layer, KvHead kv_head, const Inflow& inflow) {
  cache.impl_->receive(cache.impl_->head(layer, kv_head), inflow);
}

void DeviceSide::make_room(KvCache& cache) {
  for (LayerId layer{0}; layer < cache.shape().layers; ++layer) cache.impl_->blocks_.make_room(cache.impl_->heads_of(layer), 1);
}

void DeviceSide::count_appended(KvCache& cache, std::int32_t original) {
  for (CachedHead& head : cache.impl_->heads_) head.original.push_back(original);
}

std::int64_t bytes_beside(const KvCache& cache) {
  std::int64_t bytes = cache.states().bytes();
  for (LayerId layer{0}; layer < cache.shape().layers; ++layer) {
    for (KvHead head{0}; head < cache.shape().kv_heads; ++head) {
      for (std::int64_t block = 0; block < std::ssize(cache.key_blocks(layer, head)); ++block)
        bytes += StoredSlots::is_wide(cache, layer, head, block) ? cache.shape().more_of_wide_block() : 0;
    }
  }
  return cache.sliding() != nullptr ? bytes + cache.sliding()->bytes_in_use() + bytes_beside(*cache.sliding()) : bytes;
}

}  // namespace winnow
