#include "engine/kv_cache/kv_cache.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <utility>

#include "engine/base/error.h"
#include "engine/kv_cache/block_pool.h"
#include "engine/kv_cache/cached_head.h"
#include "engine/kv_cache/device_heads.h"
#include "engine/kv_cache/head_move.h"
#include "engine/kv_cache/kv_block.h"
#include "engine/kv_cache/stored_rows.h"
#include "engine/kv_cache/unbiased_keys.h"

namespace winnow {

namespace {

constexpr std::int64_t kBlockSlots = KvCache::kBlockSlots;

}  // namespace

class KvCache::Impl {
 public:
  using Head = CachedHead;

  explicit Impl(const KvShape& shape) : shape_(shape), pool_(std::make_shared<BlockPool>(shape)), states_(shape) {
    require(shape.layers > 0 && shape.kv_heads > 0 && shape.head_dim > 0, "KvCache: layers, heads and head size must be positive");
    require(shape.storage == KvStorage::kWide || shape.device.is_cpu(), "KvCache: rows in fewer bits are for the CPU");
    require(shape.storage != KvStorage::kHalf || shape.dtype == at::kFloat, "KvCache: rows in fp16 are for arithmetic in fp32");
    heads_.resize(static_cast<std::size_t>(shape.layers * shape.kv_heads));
    if (!shape.device.is_cpu()) device_.emplace(shape);
    if (shape.storage == KvStorage::kInt8 && shape.key_bias) rotations_ = std::make_shared<KeyRotations>(shape.key_bias);
    if (shape.sliding == nullptr) return;
    require(shape.sliding_with.layers() == shape.layers, "KvCache: a count of layers with a window for each layer");
    sliding_.emplace(shape.sliding_shape());
  }

  HeadBias bias_of(const Head& head) const {
    const LayerId layer = layer_of(head);
    if (!shape_.takes_bias(layer)) return {};
    return {shape_.key_bias->of(layer).const_data_ptr<float>() + kv_head_of(head) * shape_.head_dim, rotations_.get()};
  }

  // Rotations of a head's slots; none if it stores keys as they are.
  static std::span<std::int32_t> rotations_of(Head& head, std::int64_t slot, std::int64_t count) {
    return std::span(head.rotations).subspan(static_cast<std::size_t>(slot), static_cast<std::size_t>(count));
  }
  static std::span<const std::int32_t> rotations_of(const Head& head, std::int64_t slot, std::int64_t count) {
    return std::span(head.rotations).subspan(static_cast<std::size_t>(slot), static_cast<std::size_t>(count));
  }

  // positions may be undefined.
  std::vector<std::int32_t> rotations_at(const at::Tensor& positions, std::int64_t count) {
    if (positions.defined()) return rotations_->at(positions);
    return std::vector<std::int32_t>(static_cast<std::size_t>(count), KeyRotations::kNone);
  }

  UnstoredBias unstored_bias(const Head& head) const {
    const HeadBias bias = bias_of(head);
    return bias ? UnstoredBias{bias.bias, bias.rotations, head.rotations} : UnstoredBias();
  }

  at::Tensor keys_as_stored(LayerId layer, const at::Tensor& keys, const at::Tensor& positions) {
    const std::vector<std::int32_t> rotations = rotations_at(positions, keys.size(1));
    std::vector<at::Tensor> read;
    for (const Head& head : heads_of(layer)) read.push_back(read_as_written(keys.select(0, kv_head_of(head)), bias_of(head), rotations));
    return at::stack(read);
  }

  // Some of `rows` into slots of one block.
  struct Run {
    std::int64_t slot = 0;
    std::int64_t first = 0;
    std::int64_t count = 0;
  };
  template <class Each>
  static void in_runs(std::int64_t first_slot, std::int64_t count, const Each& each) {
    for (std::int64_t done = 0; done < count;) {
      const std::int64_t slot = first_slot + done;
      const Run run{slot, done, std::min(kBlockSlots - slot % kBlockSlots, count - done)};
      each(run);
      done += run.count;
    }
  }

  // If keys are stored without their bias and `rows` have it, it is taken away as the slots' rotations say.
  void write_run(Head& h, KvBlock& block, const SlotRows& rows, const Run& run) {
    const std::int64_t row = run.slot % kBlockSlots;
    block.write(KvPart::kValues, row, rows.values, run.first, run.count);
    const HeadBias bias = bias_of(h);
    if (!bias || rows.positions.defined()) return block.write(KvPart::kKeys, row, rows.keys, run.first, run.count);
    write_unbiased_keys(block, row, rows.keys.narrow(0, run.first, run.count), bias, rotations_of(h, run.slot, run.count));
  }

  // Slots of one block: a view where rows are stored in the shape's dtype.
  at::Tensor read_run(const Head& h, KvPart part, std::int64_t slot, std::int64_t count) const {
    const KvBlock& block = *h.blocks[static_cast<std::size_t>(slot / kBlockSlots)];
    const HeadBias bias = part == KvPart::kKeys ? bias_of(h) : HeadBias();
    if (!bias) return block.rows(part, slot % kBlockSlots, count);
    const at::Tensor wide = at::empty({count, shape_.head_dim}, shape_.dtype);
    read_unbiased_keys(block, slot % kBlockSlots, bias, rotations_of(h, slot, count), wide);
    return wide;
  }

  SlotRows unbiased_slots(Head& h, std::int64_t count) {
    if (count < 0) count = h.slots();
    SlotRows rows{gather_stored(h, KvPart::kKeys, count), gather_stored(h, KvPart::kValues, count)};
    if (bias_of(h)) rows.positions = rotations_->positions(rotations_of(h, 0, count));
    return rows;
  }

  void write_unbiased(Head& h, std::int64_t first_slot, const SlotRows& rows) {
    check_write(h, first_slot, rows.keys, rows.values);
    if (bias_of(h)) std::ranges::copy(rotations_at(rows.positions, rows.keys.size(0)), h.rotations.begin() + first_slot);
    write(h, first_slot, rows);
  }

  Head& head(LayerId layer, KvHead kv_head) {
    require(layer >= 0 && layer < shape_.layers, "KvCache: no such layer");
    require(kv_head >= 0 && kv_head < shape_.kv_heads, "KvCache: no such kv head");
    return heads_[static_cast<std::size_t>(layer * shape_.kv_heads + kv_head)];
  }

  std::span<Head> heads_of(LayerId layer) { return {&head(layer, KvHead(0)), static_cast<std::size_t>(shape_.kv_heads)}; }

  std::size_t index_of(const Head& head) const { return static_cast<std::size_t>(&head - heads_.data()); }

  LayerId layer_of(const Head& head) const { return LayerId(static_cast<std::int64_t>(index_of(head)) / shape_.kv_heads); }
  KvHead kv_head_of(const Head& head) const { return KvHead(static_cast<std::int64_t>(index_of(head)) % shape_.kv_heads); }

  bool on_device() const { return device_.has_value(); }

  // After a block of this head came, went or was replaced.
  void note_blocks_changed(const Head& head) {
    if (on_device()) device_->note_blocks_changed(layer_of(head));
  }

  std::int64_t block_bytes() const { return kBlockSlots * shape_.slot_bytes(); }

  void push_block(Head& head, std::shared_ptr<KvBlock> block) {
    head.key_pointers.push_back(block->begin_of(KvPart::kKeys));
    head.value_pointers.push_back(block->begin_of(KvPart::kValues));
    head.blocks.push_back(std::move(block));
    note_blocks_changed(head);
    ++block_count_;
    note_peak(0);
  }

  // Releases the blocks that no slot in use needs.
  void trim(Head& head) {
    const auto needed = static_cast<std::size_t>(blocks_for(head.slots()));
    if (head.blocks.size() <= needed) return;
    for (std::size_t block = needed; block < head.blocks.size() && on_device(); ++block) device_->keep(head.blocks[block]);
    block_count_ -= static_cast<std::int64_t>(head.blocks.size() - needed);
    head.blocks.resize(needed);
    head.key_pointers.resize(needed);
    head.value_pointers.resize(needed);
  }

  void note_peak(std::int64_t extra_blocks) { peak_blocks_ = std::max(peak_blocks_, block_count_ + extra_blocks); }

  // A block about to be written must have one owner.
  KvBlock& writable(Head& head, std::int64_t index) {
    if (has_other_owner(head, index)) make_own(head, index, pool_->take_one());
    return *head.blocks[static_cast<std::size_t>(index)];
  }

  static bool has_other_owner(const Head& head, std::int64_t index) { return head.blocks[static_cast<std::size_t>(index)].use_count() > 1; }

  void make_own(Head& head, std::int64_t index, std::shared_ptr<KvBlock> own) {
    auto& block = head.blocks[static_cast<std::size_t>(index)];
    own->copy_all(*block);
    std::swap(block, own);
    if (on_device()) device_->keep(std::move(own));
    head.key_pointers[static_cast<std::size_t>(index)] = block->begin_of(KvPart::kKeys);
    head.value_pointers[static_cast<std::size_t>(index)] = block->begin_of(KvPart::kValues);
    note_blocks_changed(head);
  }

  void append(LayerId layer, const SlotRows& rows, std::span<const std::int32_t> original) {
    const at::Tensor& key = rows.keys;
    const at::Tensor& value = rows.values;
    const auto t = static_cast<std::int64_t>(original.size());
    for (const at::Tensor* tensor : {&key, &value}) {
      require(tensor->dim() == 3 && tensor->size(0) == shape_.kv_heads && tensor->size(1) == t && tensor->size(2) == shape_.head_dim,
              "KvCache::append: key and value must be [kv_heads, t, head_dim] with one original index per token");
      require(tensor->scalar_type() == shape_.dtype && tensor->device() == shape_.device,
              "KvCache::append: dtype and device must be the cache's");
    }
    if (t == 0) return;
    const bool half = shape_.storage == KvStorage::kHalf;  // all heads at once: a tensor for each row would take longer than its numbers
    const at::Tensor stored_key = half ? in_half(key) : key;
    const at::Tensor stored_value = half ? in_half(value) : value;
    const std::span<Head> heads = heads_of(layer);
    make_room(heads, t);
    if (on_device()) {
      device_->append(layer, heads, key, value);
      for (Head& h : heads) h.original.insert(h.original.end(), original.begin(), original.end());
      return;
    }
    const std::vector<std::int32_t> rotations = shape_.takes_bias(layer) ? rotations_at(rows.positions, t) : std::vector<std::int32_t>();
    for (std::int64_t i = 0; i < shape_.kv_heads; ++i) {
      Head& h = heads[static_cast<std::size_t>(i)];
      const SlotRows of_head{stored_key.select(0, i), stored_value.select(0, i)};
      h.rotations.insert(h.rotations.end(), rotations.begin(), rotations.end());
      in_runs(h.slots(), t,
              [&](const Run& run) { write_run(h, *h.blocks[static_cast<std::size_t>(run.slot / kBlockSlots)], of_head, run); });
      h.original.insert(h.original.end(), original.begin(), original.end());
    }
  }

  // For `tokens` more slots of each head: blocks, the one that is begun its own. If memory runs out, the heads are as they were.
  void make_room(std::span<Head> heads, std::int64_t tokens) {
    const auto missing = [&](const Head& h) { return std::max<std::int64_t>(0, blocks_for(h.slots() + tokens) - std::ssize(h.blocks)); };
    const auto begun_is_shared = [](const Head& h) { return h.slots() % kBlockSlots != 0 && has_other_owner(h, h.slots() / kBlockSlots); };
    std::int64_t needed = 0;
    for (Head& h : heads) {
      const std::size_t slots = h.original.size() + static_cast<std::size_t>(tokens);
      if (h.original.capacity() < slots) h.original.reserve(std::max(slots, 2 * h.original.capacity()));
      needed += missing(h) + (begun_is_shared(h) ? 1 : 0);
    }
    if (needed == 0) return;
    std::vector<std::shared_ptr<KvBlock>> fresh = pool_->take(needed);
    auto next = fresh.begin();
    for (Head& h : heads) {
      if (begun_is_shared(h)) make_own(h, h.slots() / kBlockSlots, std::move(*next++));
    }
    in_turns(heads, missing, [&](Head& h) { push_block(h, std::move(*next++)); });
  }

  // Gives every one as many blocks as it is missing. On a GPU those that begin heads lie together, as do those that end them: what stays of
  // all of them holds little of what leaves (block_pool.h).
  template <class Each, class Missing, class Give>
  void in_turns(std::span<Each> all, const Missing& missing, const Give& give) const {
    for (bool some = true; some;) {
      some = false;
      for (Each& each : all) {
        while (missing(each) > 0) {
          give(each);
          some = true;
          if (on_device()) break;
        }
      }
    }
  }

  void count_appended(std::int32_t original) {
    for (Head& h : heads_) h.original.push_back(original);
  }

  DeviceBlocks device_blocks(LayerId layer) {
    require(on_device(), "KvCache::device_blocks: this cache lies in the memory of the CPU");
    return device_->blocks_of(layer, heads_of(layer));
  }

  DeviceNumbers device_numbers(LayerId layer, const std::function<std::vector<std::int32_t>()>& make) {
    require(on_device(), "device_numbers: this cache lies in the memory of the CPU");
    return device_->numbers_of(layer, heads_of(layer), make);
  }

  // The head's table, or which slot it names by a number, is another one from now on.
  static void note_table_changed(Head& h) {
    static std::atomic<std::uint64_t> states{0};
    h.table_state = ++states;
  }

  // The head is what the move leaves.
  void settle(Head& h, HeadMove& move) {
    note_table_changed(h);
    for (std::int64_t slot = move.start; slot < move.new_slots; ++slot) {
      h.original[static_cast<std::size_t>(slot)] = h.original[static_cast<std::size_t>(move.source(slot))];
      if (!h.rotations.empty()) h.rotations[static_cast<std::size_t>(slot)] = h.rotations[static_cast<std::size_t>(move.source(slot))];
    }
    if (!h.rotations.empty()) h.rotations.resize(static_cast<std::size_t>(move.new_slots));
    h.original.resize(static_cast<std::size_t>(move.new_slots));
    h.original.shrink_to_fit();
    block_count_ -= std::ssize(h.blocks) - move.first_block;
    h.blocks.resize(static_cast<std::size_t>(move.first_block));
    h.key_pointers.resize(static_cast<std::size_t>(move.first_block));
    h.value_pointers.resize(static_cast<std::size_t>(move.first_block));
    note_blocks_changed(h);
    for (auto& block : move.fresh) push_block(h, std::move(block));
  }

  // candidates(head): how many of its last slots the plan is about.
  template <class CandidatesOf>
  void compact(LayerId layer, const LayerPlan& plan, const CandidatesOf& candidates) {
    require(static_cast<std::int64_t>(plan.kept.size()) == shape_.kv_heads, "KvCache::compact: one kept list per kv head");
    const std::span<Head> heads = heads_of(layer);
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
      if (!moves[i] || on_device()) continue;
      moves[i]->fresh = pool_->take(moves[i]->blocks());
      note_peak(moves[i]->blocks());
      gather_in_runs(heads[i], *moves[i]);
      settle(heads[i], *moves[i]);
    }
    if (!on_device()) return;
    take_blocks(moves);
    const DeviceHeads::Move planned = device_->planned(layer, heads, moves);
    for (std::size_t i = 0; i < heads.size(); ++i) {
      if (moves[i]) settle(heads[i], *moves[i]);
    }
    device_->carry_out(planned, layer, heads);
  }

  // Takes the blocks of all heads at once.
  void take_blocks(std::vector<std::optional<HeadMove>>& moves) {
    const auto missing = [](const std::optional<HeadMove>& move) { return move ? move->blocks() - std::ssize(move->fresh) : 0; };
    std::int64_t needed = 0;
    for (const std::optional<HeadMove>& move : moves) needed += missing(move);
    std::vector<std::shared_ptr<KvBlock>> fresh = pool_->take(needed);
    auto next = fresh.begin();
    in_turns(std::span(moves), missing, [&](std::optional<HeadMove>& move) { move->fresh.push_back(std::move(*next++)); });
    note_peak(needed);
  }

  void assign(Head& h, const at::Tensor& keys, const at::Tensor& values, std::span<const std::int32_t> original) {
    const auto count = static_cast<std::int64_t>(original.size());
    require(keys.dim() == 2 && keys.size(0) == count && keys.size(1) == shape_.head_dim && keys.sizes() == values.sizes(),
            "KvCache::assign: K and V must be [k, head_dim] with one original index per slot");
    require(keys.scalar_type() == shape_.dtype && values.scalar_type() == shape_.dtype, "KvCache::assign: dtype must be the cache's");
    carry_out_changes();
    std::vector<std::shared_ptr<KvBlock>> fresh = pool_->take(blocks_for(count));
    h.rotations.assign(bias_of(h) ? static_cast<std::size_t>(count) : 0, KeyRotations::kNone);
    in_runs(0, on_device() ? 0 : count, [&](const Run& run) {
      write_run(h, *fresh[static_cast<std::size_t>(run.slot / kBlockSlots)], {keys, values}, run);
    });
    note_peak(std::ssize(fresh));
    h.shared.reset();
    note_table_changed(h);
    h.original.assign(original.begin(), original.end());
    block_count_ -= std::ssize(h.blocks);
    const auto before = std::exchange(h.blocks, {});  // what is written may be read there
    h.key_pointers.clear();
    h.value_pointers.clear();
    note_blocks_changed(h);
    for (auto& block : fresh) push_block(h, std::move(block));
    if (on_device()) device_->write(layer_of(h), heads_of(layer_of(h)), {kv_head_of(h), 0}, {keys, values});
  }

  void restore(LayerId layer, Impl& earlier) {
    earlier.carry_out_changes();
    const std::span<Head> heads = heads_of(layer);
    carry_out_changes();
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const Head& before = earlier.heads_[static_cast<std::size_t>(layer * shape_.kv_heads) + i];
      block_count_ += std::ssize(before.blocks) - std::ssize(heads[i].blocks);
      heads[i] = before;
      note_blocks_changed(heads[i]);
    }
    states_.restore(layer, earlier.states_);
    if (!sliding_) return;
    LayerId first{0};
    for (LayerId before{0}; before < layer; ++before) first = LayerId(first + shape_.sliding_with[before]);
    for (LayerId own = first; own < first + shape_.sliding_with[layer]; ++own) restore_layer(*sliding_, own, *earlier.sliding_);
  }

  void evict(Head& h, std::int64_t slot) {
    require(slot >= 0 && slot < h.slots(), "KvCache::evict: no such slot");
    const std::int64_t last = h.slots() - 1;
    if (slot != last) {
      KvBlock& to = writable(h, slot / kBlockSlots);
      if (on_device()) {
        device_->note_move(index_of(h), h, last, slot);
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
    trim(h);
  }

  void receive(Head& h, const Inflow& inflow) {
    require(on_device(), "KvCache::receive: this cache lies in the memory of the CPU");
    for (const std::int64_t slot : {inflow.from, inflow.into}) require(slot >= 0 && slot < h.slots(), "KvCache::receive: no such slot");
    writable(h, inflow.into / kBlockSlots);
    device_->note_inflow(index_of(h), h, inflow);
  }

  void* key_to_write(Head& h, std::int64_t slot) {
    require(on_device(), "key_to_write: this cache lies in the memory of the CPU");
    require(slot >= 0 && slot < h.slots(), "key_to_write: no such slot");
    carry_out_changes();
    return writable(h, slot / kBlockSlots).begin_to_write(KvPart::kKeys) + slot % kBlockSlots * (shape_.slot_bytes() / 2);
  }

  // Before a slot is read or written.
  void carry_out_changes() {
    if (on_device()) device_->carry_out_changes();
  }

  void check_write(const Head& h, std::int64_t first_slot, const at::Tensor& keys, const at::Tensor& values) {
    require(keys.dim() == 2 && keys.size(1) == shape_.head_dim && keys.sizes() == values.sizes(),
            "KvCache::write: K and V must be [k, head_dim]");
    require(first_slot >= 0 && first_slot + keys.size(0) <= h.slots(), "KvCache::write: no such slots");
    carry_out_changes();
  }

  void write(Head& h, std::int64_t first_slot, const SlotRows& rows) {
    const std::int64_t count = rows.keys.size(0);
    check_write(h, first_slot, rows.keys, rows.values);
    if (on_device()) {
      make_writable(h, first_slot, count);
      device_->write(layer_of(h), heads_of(layer_of(h)), {kv_head_of(h), first_slot}, rows);
      return;
    }
    in_runs(first_slot, count, [&](const Run& run) { write_run(h, writable(h, run.slot / kBlockSlots), rows, run); });
  }

  void make_writable(Head& h, std::int64_t first_slot, std::int64_t count) {
    if (count == 0) return;
    for (std::int64_t block = first_slot / kBlockSlots; block * kBlockSlots < first_slot + count; ++block) writable(h, block);
  }

  at::Tensor gather(const Head& h, KvPart part, std::int64_t count) {
    if (count < 0) count = h.slots();
    const HeadBias bias = part == KvPart::kKeys ? bias_of(h) : HeadBias();
    if (!bias) return gather_stored(h, part, count);
    require(count <= h.slots(), "KvCache::gather: more slots than the head has");
    at::Tensor rows = at::empty({count, shape_.head_dim}, shape_.dtype);
    in_runs(0, count, [&](const Run& run) {
      const KvBlock& block = *h.blocks[static_cast<std::size_t>(run.slot / kBlockSlots)];
      read_unbiased_keys(block, 0, bias, rotations_of(h, run.slot, run.count), rows.narrow(0, run.first, run.count));
    });
    return rows;
  }

  // Keys that are stored without their bias are told without it.
  at::Tensor gather_stored(const Head& h, KvPart part, std::int64_t count) {
    carry_out_changes();
    require(count <= h.slots(), "KvCache::gather: more slots than the head has");
    if (on_device()) {
      const SlotRows rows = device_->read(layer_of(h), heads_of(layer_of(h)), kv_head_of(h), count);
      return part == KvPart::kKeys ? rows.keys : rows.values;
    }
    const bool upcast = shape_.storage != KvStorage::kWide;
    const at::Tensor rows = at::empty({upcast ? count : 0, shape_.head_dim}, at::TensorOptions(shape_.device).dtype(shape_.dtype));
    std::vector<at::Tensor> pieces;
    for (std::int64_t done = 0; done < count; done += kBlockSlots) {
      const KvBlock& block = *h.blocks[static_cast<std::size_t>(done / kBlockSlots)];
      const std::int64_t here = std::min(kBlockSlots, count - done);
      if (upcast) {
        block.upcast(part, 0, rows.narrow(0, done, here));
      } else {
        pieces.push_back(block.rows(part, 0, here));
      }
    }
    return pieces.empty() ? rows : at::cat(pieces);
  }

  std::vector<SlotRows> last_slots(LayerId layer, std::span<const std::int64_t> counts) {
    const std::span<Head> heads = heads_of(layer);
    require(std::ssize(counts) == shape_.kv_heads, "last_slots: one count per kv head");
    SlotRanges ranges;
    std::vector<SlotRows> rows;
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const std::int64_t first = heads[i].slots() - counts[i];
      require(counts[i] >= 0 && first >= 0, "last_slots: more slots than the head has");
      ranges.first.push_back(static_cast<std::int32_t>(first));
      ranges.count.push_back(static_cast<std::int32_t>(counts[i]));
      if (on_device()) continue;
      const auto part = [&](KvPart of) {
        return counts[i] == 0 ? gather(heads[i], of, 0) : gather(heads[i], of, -1).narrow(0, first, counts[i]);
      };
      rows.push_back({part(KvPart::kKeys), part(KvPart::kValues)});
    }
    return on_device() ? device_->read(layer, heads, ranges) : rows;
  }

  void write_last_slots(LayerId layer, std::span<const SlotRows> rows) {
    const std::span<Head> heads = heads_of(layer);
    require(std::ssize(rows) == shape_.kv_heads, "write_last_slots: rows of every kv head");
    std::vector<std::int32_t> first;
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const std::int64_t slot = heads[i].slots() - rows[i].keys.size(0);
      first.push_back(static_cast<std::int32_t>(slot));
      if (!on_device()) {
        write(heads[i], slot, rows[i]);
      } else {
        check_write(heads[i], slot, rows[i].keys, rows[i].values);
        make_writable(heads[i], slot, rows[i].keys.size(0));
      }
    }
    if (on_device()) device_->write(layer, heads, first, rows);
  }

  KvShape shape_;
  std::shared_ptr<BlockPool> pool_;          // shared by forks
  std::shared_ptr<KeyRotations> rotations_;  // likewise; null: no layer takes_bias()
  std::vector<Head> heads_;                  // [layers * kv_heads]
  LayerStates states_;
  std::optional<KvCache> sliding_;     // none without shape_.sliding
  std::optional<DeviceHeads> device_;  // none on the CPU
  std::int64_t block_count_ = 0;
  std::int64_t peak_blocks_ = 0;
};

KvCache::KvCache(const KvShape& shape) : impl_(std::make_unique<Impl>(shape)) {}
KvCache::~KvCache() = default;
KvCache::KvCache(KvCache&&) noexcept = default;
KvCache::KvCache(const KvCache& other) {
  other.impl_->carry_out_changes();
  impl_ = std::make_unique<Impl>(*other.impl_);
  impl_->peak_blocks_ = impl_->block_count_;
}
KvCache& KvCache::operator=(KvCache&&) noexcept = default;

const KvShape& KvCache::shape() const { return impl_->shape_; }

std::int64_t KvCache::slots(LayerId layer, KvHead kv_head) const { return impl_->head(layer, kv_head).slots(); }

void KvCache::append(LayerId layer, const at::Tensor& key, const at::Tensor& value, std::span<const std::int32_t> original,
                     const at::Tensor& positions) {
  impl_->append(layer, {key, value, positions}, original);
}

void KvCache::make_room() {
  for (LayerId layer{0}; layer < shape().layers; ++layer) impl_->make_room(impl_->heads_of(layer), 1);
}

void KvCache::count_appended(std::int32_t original) { impl_->count_appended(original); }

void KvCache::compact(LayerId layer, std::int64_t segment_tokens, const LayerPlan& plan) {
  impl_->compact(layer, plan, [&](const Impl::Head&) { return segment_tokens; });
}

void KvCache::compact_all(LayerId layer, const LayerPlan& plan) {
  impl_->compact(layer, plan, [](const Impl::Head& h) { return h.slots(); });
}

void KvCache::assign(LayerId layer, KvHead kv_head, const at::Tensor& keys, const at::Tensor& values,
                     std::span<const std::int32_t> original) {
  impl_->assign(impl_->head(layer, kv_head), keys, values, original);
}

void KvCache::evict(LayerId layer, KvHead kv_head, std::int64_t slot) { impl_->evict(impl_->head(layer, kv_head), slot); }

void KvCache::receive(LayerId layer, KvHead kv_head, const Inflow& inflow) { impl_->receive(impl_->head(layer, kv_head), inflow); }

void KvCache::write(LayerId layer, KvHead kv_head, std::int64_t first_slot, const at::Tensor& keys, const at::Tensor& values) {
  impl_->write(impl_->head(layer, kv_head), first_slot, {keys, values});
}

std::pair<at::Tensor, at::Tensor> KvCache::row_views(LayerId layer, KvHead kv_head, std::int64_t slot) const {
  const Impl::Head& h = impl_->head(layer, kv_head);
  require(slot >= 0 && slot < h.slots(), "KvCache::row_views: no such slot");
  impl_->carry_out_changes();
  return {impl_->read_run(h, KvPart::kKeys, slot, 1).select(0, 0), impl_->read_run(h, KvPart::kValues, slot, 1).select(0, 0)};
}

at::Tensor KvCache::block_view(LayerId layer, KvHead kv_head, KvPart part, std::int64_t block) const {
  const Impl::Head& h = impl_->head(layer, kv_head);
  const std::int64_t first = block * kBlockSlots;
  require(block >= 0 && first < h.slots(), "KvCache::block_view: no such block");
  impl_->carry_out_changes();
  return impl_->read_run(h, part, first, std::min(kBlockSlots, h.slots() - first));
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

DeviceBlocks KvCache::device_blocks(LayerId layer) const { return impl_->device_blocks(layer); }

const SharedEntries* KvCache::shared_entries(LayerId layer, KvHead kv_head) const {
  const Impl::Head& h = impl_->head(layer, kv_head);
  return h.shared ? &*h.shared : nullptr;
}

SharedEntries* KvCache::shared_entries(LayerId layer, KvHead kv_head) {
  Impl::Head& h = impl_->head(layer, kv_head);
  Impl::note_table_changed(h);  // whoever may change it
  return h.shared ? &*h.shared : nullptr;
}

void KvCache::set_shared_entries(LayerId layer, KvHead kv_head, SharedEntries entries) {
  Impl::Head& h = impl_->head(layer, kv_head);
  require(entries.slot.size() == entries.size() && entries.norm.size() == entries.size(), "KvCache: a slot and a norm per shared token");
  for (std::size_t i = 0; i < entries.size(); ++i) {
    require(entries.slot[i] == SharedEntries::kZero || (entries.slot[i] >= 0 && entries.slot[i] < h.slots()),
            "KvCache: a shared token's slot is not there");
    require(i == 0 || entries.original[i] > entries.original[i - 1], "KvCache: shared tokens ascend by original index");
  }
  h.shared = std::move(entries);
  Impl::note_table_changed(h);
}

bool KvCache::has_shared_entries(LayerId layer) const {
  return std::ranges::any_of(impl_->heads_of(layer), [](const Impl::Head& head) { return head.shared.has_value(); });
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
  for (const Impl::Head& head : impl_->heads_of(layer)) slots += head.slots();
  return slots * impl_->shape_.slot_bytes();
}

std::int64_t KvCache::bytes_in_use() const {
  std::int64_t bytes = 0;
  for (LayerId layer{0}; layer < impl_->shape_.layers; ++layer) bytes += bytes_in_use(layer);
  return bytes;
}

std::int64_t KvCache::bytes_metadata() const {
  std::int64_t bytes = 0;
  for (const Impl::Head& h : impl_->heads_) {
    bytes += h.slots() * static_cast<std::int64_t>(sizeof(std::int32_t));
    bytes += static_cast<std::int64_t>(h.rotations.size() * sizeof(std::int32_t));
    if (h.shared) bytes += static_cast<std::int64_t>(h.shared->size() * (2 * sizeof(std::int32_t) + sizeof(float)));
  }
  return bytes + (impl_->rotations_ ? impl_->rotations_->bytes() : 0);
}

std::int64_t KvCache::bytes_allocated() const { return impl_->block_count_ * impl_->block_bytes(); }
std::int64_t KvCache::bytes_peak() const { return impl_->peak_blocks_ * impl_->block_bytes(); }
void KvCache::reset_peak() { impl_->peak_blocks_ = impl_->block_count_; }

void restore_layer(KvCache& cache, LayerId layer, const KvCache& earlier) {
  require(cache.shape().layers == earlier.shape().layers && cache.shape().kv_heads == earlier.shape().kv_heads,
          "restore_layer: another cache's layer");
  cache.impl_->restore(layer, *earlier.impl_);
}

void* key_to_write(KvCache& cache, LayerId layer, KvHead kv_head, std::int64_t slot) {
  return cache.impl_->key_to_write(cache.impl_->head(layer, kv_head), slot);
}

std::vector<SlotRows> last_slots(const KvCache& cache, LayerId layer, std::span<const std::int64_t> counts) {
  return cache.impl_->last_slots(layer, counts);
}

void write_last_slots(KvCache& cache, LayerId layer, std::span<const SlotRows> rows) { cache.impl_->write_last_slots(layer, rows); }

SlotRows unbiased_slots(const KvCache& cache, LayerId layer, KvHead kv_head, std::int64_t count) {
  return cache.impl_->unbiased_slots(cache.impl_->head(layer, kv_head), count);
}

void write_unbiased(KvCache& cache, LayerId layer, KvHead kv_head, std::int64_t first_slot, const SlotRows& rows) {
  cache.impl_->write_unbiased(cache.impl_->head(layer, kv_head), first_slot, rows);
}

UnstoredBias unstored_bias(const KvCache& cache, LayerId layer, KvHead kv_head) {
  return cache.impl_->unstored_bias(cache.impl_->head(layer, kv_head));
}

at::Tensor keys_as_stored(const KvCache& cache, LayerId layer, const at::Tensor& keys, const at::Tensor& positions) {
  return cache.impl_->keys_as_stored(layer, keys, positions);
}

DeviceNumbers device_numbers(const KvCache& cache, LayerId layer, const std::function<std::vector<std::int32_t>()>& make) {
  return cache.impl_->device_numbers(layer, make);
}

LayerStates& layer_states(KvCache& cache) { return cache.impl_->states_; }
const LayerStates& layer_states(const KvCache& cache) { return cache.impl_->states_; }

KvCache* sliding_slots(KvCache& cache) { return cache.impl_->sliding_ ? &*cache.impl_->sliding_ : nullptr; }
const KvCache* sliding_slots(const KvCache& cache) { return cache.impl_->sliding_ ? &*cache.impl_->sliding_ : nullptr; }

std::int64_t bytes_beside(const KvCache& cache) {
  const KvCache* const sliding = sliding_slots(cache);
  return layer_states(cache).bytes() + (sliding != nullptr ? sliding->bytes_in_use() : 0);
}

}  // namespace winnow
