// The KV cache of one conversation: truly ragged, exactly counted, forkable.
//
// Per layer and KV head a list of fixed-size blocks of slots, each block contiguous [kBlockSlots, head_dim] for K and for V, plus the
// original token index of every slot. Appending fills the last block and adds blocks: nothing is copied as the cache grows. Compaction
// gathers kept rows into fresh blocks and returns the old ones to the allocator at once (block_pool.h). fork() shares blocks; a shared
// block is copied before it is written. Blocks lie in the memory of the shape's device. Rows are stored as the model computes them or in
// fewer bits (KvStorage); whoever reads rows gets them in the shape's dtype, and what is written is rounded. Knows no compression method.
// Used by engine/layers (append, attention) and engine/generation (compact, fork). Threads: engine thread only. Slot numbers are rows
// of one head; after the first eviction they are not token positions.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/index.h"
#include "engine/base/per_layer.h"
#include "engine/kv_cache/key_bias.h"
#include "engine/kv_cache/rotary_scheme.h"
#include "engine/kv_cache/shared_entries.h"
#include "kernels/api/int8_rows.h"

namespace winnow {

// How rows of K and V lie in a cache.
enum class KvStorage : int {
  kWide = 1,  // in the model's arithmetic type
  kInt8 = 2,  // a signed byte for every number and one fp32 scale for every row (int8_rows.h), on the CPU
  kHalf = 3,  // in fp16 under arithmetic in fp32 (stored_rows.h), on the CPU
};

enum class KvPart : int { kKeys = 0, kValues = 1 };

struct KvShape {
  std::int64_t layers = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  at::ScalarType dtype = at::kFloat;
  at::Device device = at::kCPU;
  RotaryScheme rotary{};  // of the cached keys
  // Per layer the last tokens that a token attends to, itself included; 0: all. Empty: all in every layer.
  PerLayer<std::int64_t> windows{};
  KvStorage storage = KvStorage::kWide;
  std::shared_ptr<const KeyBias> key_bias{};  // the model's; null: its keys have none
  // Whether keys of a layer are stored without their bias.
  bool takes_bias(LayerId layer) const { return storage == KvStorage::kInt8 && key_bias != nullptr && key_bias->of(layer).defined(); }
  std::int64_t window(LayerId layer) const { return windows.empty() ? 0 : windows.at(layer); }
  // The first token that token `original` attends to.
  std::int32_t first_seen(LayerId layer, std::int32_t original) const {
    const std::int64_t tokens = window(layer);
    return tokens == 0 ? 0 : static_cast<std::int32_t>(std::max<std::int64_t>(0, original + 1 - tokens));
  }
  // Tokens of `seen` that a layer still holds for the next one, where nothing is compressed.
  std::int64_t held(LayerId layer, std::int64_t seen) const { return window(layer) == 0 ? seen : std::min(seen, window(layer) - 1); }
  // What they take in all layers.
  std::int64_t full_bytes(std::int64_t seen) const {
    std::int64_t slots = 0;
    for (LayerId layer{0}; layer < layers; ++layer) slots += held(layer, seen);
    return slots * kv_heads * slot_bytes();
  }
  // Of a stored number, where it is a float.
  at::ScalarType row_type() const { return storage == KvStorage::kHalf ? at::kHalf : dtype; }
  // K and V of one slot of one head, scales included.
  std::int64_t slot_bytes() const {
    return 2 * (storage == KvStorage::kInt8 ? kernels::narrow_row_bytes(head_dim)
                                            : head_dim * static_cast<std::int64_t>(at::elementSize(row_type())));
  }
  // Of a token that all layers and heads hold.
  std::int64_t token_bytes() const { return layers * kv_heads * slot_bytes(); }
};

// Which of the last `segment_tokens` slots of every head stay: kept[kv_head] = ascending row numbers relative to the segment's first slot.
struct LayerPlan {
  std::int64_t budget = 0;  // slots per KV head that the allocator granted
  std::vector<std::vector<std::int32_t>> kept;
};

// Where the blocks of a layer lie, in the memory of the GPU: [kv_heads, stride] pointers each; entries past a head's blocks are null.
struct DeviceBlocks {
  void* const* key_blocks = nullptr;
  void* const* value_blocks = nullptr;
  std::int64_t stride = 0;
};

// What kernels on a GPU are told of a layer: its blocks, so many slots of each head, and as many more of all as a number there says.
struct DeviceSlots {
  DeviceBlocks blocks;
  std::vector<std::int32_t> of_heads;
  const std::int32_t* further = nullptr;  // null: none
  std::int64_t most_further = 0;          // which it never exceeds
};

// Numbers of the host that lie in the memory of a GPU, too.
struct DeviceNumbers {
  at::Tensor there;                    // int32 [n]
  std::span<const std::int32_t> host;  // valid until the numbers change
};

// A row that receives: (own * row + weight * the other row) / divisor, in fp32.
struct Inflow {
  std::int64_t from = 0;  // slots
  std::int64_t into = 0;
  float own = 1.0F;
  float weight = 1.0F;
  float divisor = 1.0F;
  bool value_only = false;  // the key stays as it is
};

// K and V [n, head_dim] of some slots of a head.
struct SlotRows {
  at::Tensor keys;
  at::Tensor values;
  at::Tensor positions{};  // int64 [axes, n]: `keys` are without the bias of keys that are rotated by these, -1: with it.
  // Undefined: all are with it.
};

// What decode attention is told of a head whose keys are stored without their bias. bias: null where they are not.
struct UnstoredBias {
  const float* bias = nullptr;             // [head_dim]
  const float* rotations = nullptr;        // KeyRotations::rows()
  std::span<const std::int32_t> of_slots;  // rows of those; kNone: the slot's key is stored with it
};

class KvCache {
 public:
  static constexpr std::int64_t kBlockSlots = 64;
  // Blocks that so many slots of a head take.
  static constexpr std::int64_t blocks_for(std::int64_t slots) { return (slots + kBlockSlots - 1) / kBlockSlots; }

  explicit KvCache(const KvShape& shape);
  ~KvCache();
  KvCache(KvCache&&) noexcept;
  KvCache& operator=(KvCache&&) noexcept;
  KvCache(const KvCache& other);  // fork()
  KvCache& operator=(const KvCache&) = delete;

  const KvShape& shape() const;
  std::int64_t slots(LayerId layer, KvHead kv_head) const;

  // Adds t slots to every head of `layer`. key, value: [kv_heads, t, head_dim], any strides, the cache's dtype and device.
  // original: t token indices. positions: int64 [axes, t], what keys are rotated by, for layers whose shape takes_bias(); undefined:
  // unknown.
  void append(LayerId layer, const at::Tensor& key, const at::Tensor& value, std::span<const std::int32_t> original,
              const at::Tensor& positions = {});

  // Keeps only the planned slots among the last `segment_tokens` of each head; earlier slots stay. A head whose plan keeps all of
  // them is not touched. Frees the blocks that fall empty.
  void compact(LayerId layer, std::int64_t segment_tokens, const LayerPlan& plan);

  // The same over all slots of every head, however many each has: kept are slot numbers.
  void compact_all(LayerId layer, const LayerPlan& plan);

  // Puts other slots in the place of all that the head holds, its look-up table included. keys, values: [k, head_dim] in the cache's dtype.
  // Rows that were read from a cache are stored as they were there.
  void assign(LayerId layer, KvHead kv_head, const at::Tensor& keys, const at::Tensor& values, std::span<const std::int32_t> original);

  // Removes one slot: the last slot moves into its place (slot order is then no longer the token order), O(head_dim). On a GPU it is noted,
  // as receive() is: what leaves in many heads moves by one launch when somebody reads or writes a slot.
  void evict(LayerId layer, KvHead kv_head, std::int64_t slot);

  // On a GPU: what leaves a slot's row in another one of its head. Rounded once to the stored type.
  void receive(LayerId layer, KvHead kv_head, const Inflow& inflow);

  // Replaces K and V of slots [first_slot, first_slot + k) of one head, as merging methods do. keys, values: [k, head_dim], any float
  // dtype.
  void write(LayerId layer, KvHead kv_head, std::int64_t first_slot, const at::Tensor& keys, const at::Tensor& values);

  // Original token index per slot, in slot order.
  std::span<const std::int32_t> original(LayerId layer, KvHead kv_head) const;

  // Contiguous copies [slots, head_dim] of the first `count` slots (all if negative), in slot order.
  at::Tensor gather_keys(LayerId layer, KvHead kv_head, std::int64_t count = -1) const;
  at::Tensor gather_values(LayerId layer, KvHead kv_head, std::int64_t count = -1) const;

  // To read, valid until the next change of this head, without a copy where rows are stored wide: K and V [head_dim] of one slot;
  // [slots, head_dim] of one block of blocks_for(slots()), in slot order.
  std::pair<at::Tensor, at::Tensor> row_views(LayerId layer, KvHead kv_head, std::int64_t slot) const;
  at::Tensor block_view(LayerId layer, KvHead kv_head, KvPart part, std::int64_t block) const;

  // Block base pointers for kernels; valid until the next change of this head.
  std::span<const void* const> key_blocks(LayerId layer, KvHead kv_head) const;
  std::span<const void* const> value_blocks(LayerId layer, KvHead kv_head) const;

  // The same for kernels on a GPU (caches whose shape names one); valid until the next change of this layer. Copies the pointers to the
  // device only when a block came or went.
  DeviceBlocks device_blocks(LayerId layer) const;

  // On a GPU, for steps that are recorded once and write their rows without the cache (append_rows()): makes room for one more slot of
  // every head, which has blocks of its own then; and counts those slots once the rows are there.
  void make_room();
  void count_appended(std::int32_t original);

  // The head's look-up table; null if all of its slots are direct. Evicting moves the table's slot numbers along; a slot that the table
  // names must not be evicted before its tokens are gone from the table. Who changes it asks for it anew after somebody has attended to it.
  const SharedEntries* shared_entries(LayerId layer, KvHead kv_head) const;
  SharedEntries* shared_entries(LayerId layer, KvHead kv_head);
  void set_shared_entries(LayerId layer, KvHead kv_head, SharedEntries entries);
  bool has_shared_entries(LayerId layer) const;

  // Shares all blocks with the copy; either side copies a block before writing to it.
  KvCache fork() const;

  // The same slots in the memory of `device`: a fork where they lie there already, a copy elsewhere.
  KvCache on_device(at::Device device) const;

  std::int64_t bytes_in_use(LayerId layer) const;  // K and V of slots in use
  std::int64_t bytes_in_use() const;
  std::int64_t bytes_metadata() const;   // original indices and look-up tables
  std::int64_t bytes_allocated() const;  // K and V blocks of this cache, shared ones included
  std::int64_t bytes_peak() const;       // highest bytes_allocated() since the last reset_peak()
  void reset_peak();

 private:
  friend void restore_layer(KvCache& cache, LayerId layer, const KvCache& earlier);
  friend void* key_to_write(KvCache& cache, LayerId layer, KvHead kv_head, std::int64_t slot);
  friend std::vector<SlotRows> last_slots(const KvCache& cache, LayerId layer, std::span<const std::int64_t> counts);
  friend void write_last_slots(KvCache& cache, LayerId layer, std::span<const SlotRows> rows);
  friend SlotRows unbiased_slots(const KvCache& cache, LayerId layer, KvHead kv_head, std::int64_t count);
  friend void write_unbiased(KvCache& cache, LayerId layer, KvHead kv_head, std::int64_t first_slot, const SlotRows& rows);
  friend UnstoredBias unstored_bias(const KvCache& cache, LayerId layer, KvHead kv_head);
  friend at::Tensor keys_as_stored(const KvCache& cache, LayerId layer, const at::Tensor& keys, const at::Tensor& positions);
  friend DeviceNumbers device_numbers(const KvCache& cache, LayerId layer, const std::function<std::vector<std::int32_t>()>& make);
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Writes rows of K and V [kv_heads, t, head_dim] behind the slots of every head, in the memory of the GPU; the blocks are there and have no
// other owner.
void append_rows(const KvShape& shape, const DeviceSlots& slots, const at::Tensor& key, const at::Tensor& value);

// Contiguous copies of K and V of the last counts[kv_head] slots of every head, in slot order, in the cache's dtype; on a GPU by one launch
// for all of them.
std::vector<SlotRows> last_slots(const KvCache& cache, LayerId layer, std::span<const std::int64_t> counts);

// Puts rows of any float dtype in the place of the last ones of every head, however many each has, likewise.
void write_last_slots(KvCache& cache, LayerId layer, std::span<const SlotRows> rows);

// The first `count` slots (all if negative) as they are stored: keys without their bias where it is not (SlotRows::positions). For who
// moves rows, rotates keys or writes a file: writing what was read changes nothing.
SlotRows unbiased_slots(const KvCache& cache, LayerId layer, KvHead kv_head, std::int64_t count = -1);

// Puts such rows in the place of others; the bias that they lack is that of their positions from now on.
void write_unbiased(KvCache& cache, LayerId layer, KvHead kv_head, std::int64_t first_slot, const SlotRows& rows);

// Of a cache on the CPU. Valid until the next change of the cache.
UnstoredBias unstored_bias(const KvCache& cache, LayerId layer, KvHead kv_head);

// keys [kv_heads, t, head_dim], rotated by positions (int64 [axes, t]), as they will be read when they have been appended to a layer that
// takes_bias().
at::Tensor keys_as_stored(const KvCache& cache, LayerId layer, const at::Tensor& keys, const at::Tensor& positions);

// Makes the layer what it is in `earlier`, a fork of this cache from before: its blocks are shared again, what was added since is freed.
void restore_layer(KvCache& cache, LayerId layer, const KvCache& earlier);

// On a GPU: where the slot's K lies, for a kernel that writes it; its block has no other owner then. Valid until the next change of this
// head.
void* key_to_write(KvCache& cache, LayerId layer, KvHead kv_head, std::int64_t slot);

// What a kernel on a GPU has to know of the layer's shared slots beside device_blocks(). make: called only when a table, or the slots that
// it is about, have changed; appended tokens that follow each other change nothing. Forks share the numbers, which are copied to the device
// only when they are not what they were.
DeviceNumbers device_numbers(const KvCache& cache, LayerId layer, const std::function<std::vector<std::int32_t>()>& make);

// K and V blocks of several caches, those that they share counted once.
std::int64_t bytes_allocated_together(std::span<const KvCache* const> caches);

}  // namespace winnow
