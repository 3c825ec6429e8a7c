// The KV cache of one conversation: truly ragged, exactly counted, forkable.
//
// Per layer and KV head a list of fixed-size blocks of slots, each block contiguous [kBlockSlots, head_dim] for K and for V, plus the
// original token index of every slot. Appending fills the last block and adds blocks: nothing is copied as the cache grows. Compaction
// gathers kept rows into new blocks and frees the old ones at once (block_pool.h). fork() shares blocks; a shared block is copied before it
// is written. Blocks are in the memory of the shape's device. Rows are stored in the model's dtype or in fewer bits (KvStorage): writing
// rounds, and readers get the shape's dtype. Layers without slots keep a state beside them (layer_states.h): nothing is evicted from it,
// and only a fork from before knows how it was earlier. Layers with a window whose KV heads are of another number or size than the others'
// have a cache of their own beside it (sliding()), which forks with it. Knows no compression method. Used by engine/layers (append,
// attention) and engine/generation (compact, fork). Threads: engine thread only. Slot numbers are rows of one head; after the first
// eviction they are not token positions.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/index.h"
#include "engine/base/per_layer.h"
#include "engine/kv_cache/key_bias.h"
#include "engine/kv_cache/layer_states.h"
#include "engine/kv_cache/rotary_scheme.h"
#include "engine/kv_cache/shared_entries.h"
#include "engine/kv_cache/state_shape.h"
#include "kernels/api/narrow_rows.h"

namespace winnow {

// How a cache stores rows of K and V.
enum class KvStorage : int {
  kWide = 1,  // in the model's arithmetic type
  kInt8 = 2,  // 8 bits an element and a scale a row (narrow_rows.h), on the CPU
  kHalf = 3,  // fp16 under fp32 arithmetic (stored_rows.h), on the CPU
  kInt4 = 4,  // rotated, in 4 bits an element and a scale for 32 (narrow_rows.h), on the CPU
};

enum class KvPart : int { kKeys = 0, kValues = 1 };

// Slots of every block of a cache.
inline constexpr std::int64_t kSlotsOfBlock = 64;

struct KvShape {
  std::int64_t layers = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  at::ScalarType dtype = at::kFloat;
  at::Device device = at::kCPU;
  RotaryScheme rotary{};  // of the cached keys
  // Per layer the sliding window: most recent tokens that a token attends to, itself included; 0: all. Empty: all in every layer.
  PerLayer<std::int64_t> windows{};
  KvStorage storage = KvStorage::kWide;
  // Caches of codes: the first block and the kNewestWide newest ones of a head hold 16 bits an element, until they are old. What is
  // attended to most is not rounded, for a share of the cache that does not grow.
  bool wide_ends = false;
  std::shared_ptr<const KeyBias> key_bias{};  // the model's; null: keys have no bias
  // Per layer how many layers without slots are computed with it and keep a state. Empty: none.
  PerLayer<std::int64_t> states_with{};
  StateShape state{};  // of each
  // For layers with a window that have KV heads of their own: sliding(), of the same dtype, device and storage. Null: none.
  std::shared_ptr<const KvShape> sliding{};
  PerLayer<std::int64_t> sliding_with{};  // per layer how many of them are computed with it, in order
  static constexpr std::int64_t kNewestWide = 2;
  // Stores as a recipe's cache does.
  void store_in(KvStorage how) {
    storage = how;
    wide_ends = row_codes().has_value();
  }
  // A head's block of `blocks` that is made wide.
  bool makes_wide(std::int64_t block, std::int64_t blocks) const { return wide_ends && (block == 0 || block >= blocks - kNewestWide); }
  // The type that keeps what is read and written again the same, bit for bit.
  at::ScalarType exact_type() const { return storage == KvStorage::kInt4 ? at::kFloat : dtype; }
  at::ScalarType wide_type() const { return dtype == at::kFloat ? at::kHalf : dtype; }
  // Bytes that a wide block takes more than the others, which are what slots and blocks are counted by.
  std::int64_t more_of_wide_block() const {
    return kSlotsOfBlock * (2 * head_dim * static_cast<std::int64_t>(at::elementSize(wide_type())) - slot_bytes());
  }
  // The most that all heads take more.
  std::int64_t more_of_wide_ends() const { return wide_ends ? layers * kv_heads * (1 + kNewestWide) * more_of_wide_block() : 0; }
  // True if keys of a layer are stored without their bias.
  bool takes_bias(LayerId layer) const { return row_codes() && key_bias != nullptr && key_bias->of(layer).defined(); }
  std::int64_t window(LayerId layer) const { return windows.empty() ? 0 : windows.at(layer); }
  // The first token that token `original` attends to.
  std::int32_t first_seen(LayerId layer, std::int32_t original) const {
    const std::int64_t tokens = window(layer);
    return tokens == 0 ? 0 : static_cast<std::int32_t>(std::max<std::int64_t>(0, original + 1 - tokens));
  }
  // The tokens, of `seen`, that a layer holds for the next one without compression.
  std::int64_t held(LayerId layer, std::int64_t seen) const { return window(layer) == 0 ? seen : std::min(seen, window(layer) - 1); }
  // Their bytes in all layers.
  std::int64_t full_bytes(std::int64_t seen) const {
    std::int64_t slots = 0;
    for (LayerId layer{0}; layer < layers; ++layer) slots += held(layer, seen);
    return slots * kv_heads * slot_bytes();
  }
  // The shape of sliding().
  KvShape sliding_shape() const {
    KvShape shape = *sliding;
    shape.dtype = dtype;
    shape.device = device;
    shape.storage = storage;
    shape.wide_ends = wide_ends;
    return shape;
  }
  // Bytes of all layers without slots here, however many tokens they have seen: states, and windows that are full; and the most that wide
  // blocks take more.
  std::int64_t state_bytes() const {
    std::int64_t states = 0;
    for (const std::int64_t of_layer : states_with) states += of_layer;
    const std::int64_t matrices = state.heads * state.rows * state.columns * static_cast<std::int64_t>(sizeof(float));
    std::int64_t others = more_of_wide_ends();
    if (sliding) others += sliding_shape().full_bytes(std::numeric_limits<std::int32_t>::max()) + sliding_shape().more_of_wide_ends();
    return others + states * (matrices + state.recent * state.channels * static_cast<std::int64_t>(at::elementSize(dtype)));
  }
  // nullopt: rows are floats.
  std::optional<kernels::RowCodes> row_codes() const {
    if (storage == KvStorage::kInt8) return kernels::RowCodes::kInt8;
    return storage == KvStorage::kInt4 ? std::optional(kernels::RowCodes::kInt4) : std::nullopt;
  }
  // Element type of stored floats.
  at::ScalarType row_type() const { return storage == KvStorage::kHalf ? at::kHalf : dtype; }
  // K and V of one slot of one head, scales included; not in a wide block.
  std::int64_t slot_bytes() const {
    const std::optional<kernels::RowCodes> codes = row_codes();
    return 2 * (codes ? kernels::narrow_row_bytes(*codes, head_dim) : head_dim * static_cast<std::int64_t>(at::elementSize(row_type())));
  }
  // Bytes of a token in all layers and heads.
  std::int64_t token_bytes() const { return layers * kv_heads * slot_bytes(); }
};

// Which of the last `segment_tokens` slots of every head stay: kept[kv_head], ascending, relative to the segment's first slot.
struct LayerPlan {
  std::int64_t budget = 0;  // slots per KV head that the allocator granted
  std::vector<std::vector<std::int32_t>> kept{};
};

// A layer's block pointers in GPU memory, [kv_heads, stride] each; entries past a head's blocks are null.
struct DeviceBlocks {
  void* const* key_blocks = nullptr;
  void* const* value_blocks = nullptr;
  std::int64_t stride = 0;

  // Into the arguments of a kernel that reads or writes them.
  template <class Args>
  void pass_to(Args& args) const {
    args.key_blocks = key_blocks;
    args.value_blocks = value_blocks;
    args.table_stride = stride;
    args.block_slots = kSlotsOfBlock;
  }
};

// A layer's slots for GPU kernels: its blocks, the slots of each head, and a count on the device that is added to all.
struct DeviceSlots {
  DeviceBlocks blocks;
  std::vector<std::int32_t> of_heads{};
  const std::int32_t* further = nullptr;  // null: 0
  std::int64_t most_further = 0;          // its upper bound

  template <class Args>
  void pass_to(Args& args) const {
    blocks.pass_to(args);
    args.slots = of_heads.data();
    args.further = further;
  }
};

// Host values with a copy in GPU memory.
struct DeviceNumbers {
  at::Tensor there;                    // int32 [n]
  std::span<const std::int32_t> host;  // valid until the values change
};

// Merges slot `from` into slot `into`: (own * row + weight * other row) / divisor, in fp32.
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
  at::Tensor positions{};  // int64 [axes, n]: `keys` lack the bias rotated to these positions; -1: they include it.
  // Undefined: all include it.
};

// For decode attention over a head whose keys are stored without their bias. bias: null if they are stored with it.
struct UnstoredBias {
  const float* bias = nullptr;  // [head_dim]
  const KeyRotations* rotations = nullptr;
  std::span<const std::int32_t> of_slots;  // rows of `rotations`; kNone: the slot's key includes the bias
};

class KvCache {
 public:
  static constexpr std::int64_t kBlockSlots = kSlotsOfBlock;
  // Blocks that `slots` slots of a head take.
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
  // original: t token indices. positions: int64 [axes, t], the keys' rotation, for layers whose shape takes_bias(); undefined: unknown.
  void append(LayerId layer, const at::Tensor& key, const at::Tensor& value, std::span<const std::int32_t> original,
              const at::Tensor& positions = {});

  // Keeps only the planned slots among the last `segment_tokens` of each head; earlier slots stay. A head whose plan keeps all of them is
  // not touched. Frees empty blocks.
  void compact(LayerId layer, std::int64_t segment_tokens, const LayerPlan& plan);

  // The same over all slots of every head, which may differ in count: kept are slot numbers.
  void compact_all(LayerId layer, const LayerPlan& plan);

  // Replaces all slots of the head and its look-up table. keys, values: [k, head_dim] in the cache's dtype or exact_type(). Rows read from
  // a cache are stored with the same bits.
  void assign(LayerId layer, KvHead kv_head, const at::Tensor& keys, const at::Tensor& values, std::span<const std::int32_t> original);

  // Evicts one slot: the last slot moves into its place (slot order is then no longer token order), O(head_dim). On a GPU it is
  // deferred: the next read or write of a slot carries out the changes of all heads in one launch.
  void evict(LayerId layer, KvHead kv_head, std::int64_t slot);

  // Replaces K and V of slots [first_slot, first_slot + k) of one head, as merging methods do. keys, values: [k, head_dim], any float
  // dtype.
  void write(LayerId layer, KvHead kv_head, std::int64_t first_slot, const at::Tensor& keys, const at::Tensor& values);

  // Original token index per slot, in slot order.
  std::span<const std::int32_t> original(LayerId layer, KvHead kv_head) const;

  // Contiguous copies [slots, head_dim] of the first `count` slots (all if negative), in slot order.
  at::Tensor gather_keys(LayerId layer, KvHead kv_head, std::int64_t count = -1) const;
  at::Tensor gather_values(LayerId layer, KvHead kv_head, std::int64_t count = -1) const;

  // Read-only, valid until the next change of this head; no copy with KvStorage::kWide. K and V [head_dim] of one slot; [slots, head_dim]
  // of one block of blocks_for(slots()), in slot order.
  std::pair<at::Tensor, at::Tensor> row_views(LayerId layer, KvHead kv_head, std::int64_t slot) const;
  at::Tensor block_view(LayerId layer, KvHead kv_head, KvPart part, std::int64_t block) const;

  // Block base pointers for kernels; valid until the next change of this head.
  std::span<const void* const> key_blocks(LayerId layer, KvHead kv_head) const;
  std::span<const void* const> value_blocks(LayerId layer, KvHead kv_head) const;

  // The head's look-up table; null if all of its slots are direct. Eviction updates the table's slot numbers; a slot's tokens must leave
  // the table before the slot is evicted. To change the table after attention has read it, call this again.
  const SharedEntries* shared_entries(LayerId layer, KvHead kv_head) const;
  SharedEntries* shared_entries(LayerId layer, KvHead kv_head);
  void set_shared_entries(LayerId layer, KvHead kv_head, SharedEntries entries);
  bool has_shared_entries(LayerId layer) const;

  // Shares all blocks with the copy; either side copies a block before writing to it.
  KvCache fork() const;

  // The states of layers without slots.
  LayerStates& states();
  const LayerStates& states() const;

  // The cache of KvShape::sliding; null without.
  KvCache* sliding();
  const KvCache* sliding() const;

  // The same slots on `device`: a fork if they are already there, else a copy.
  KvCache on_device(at::Device device) const;

  std::int64_t bytes_in_use(LayerId layer) const;  // K and V of slots in use
  std::int64_t bytes_in_use() const;
  std::int64_t bytes_metadata() const;   // original indices and look-up tables
  std::int64_t bytes_allocated() const;  // K and V blocks of this cache, shared ones included
  std::int64_t bytes_peak() const;       // highest bytes_allocated() since the last reset_peak()
  void reset_peak();

 private:
  friend struct WholeLayer;
  friend struct StoredSlots;
  friend struct DeviceSide;
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// All heads of a layer at once.
struct WholeLayer {
  // Contiguous copies of K and V of the last counts[kv_head] slots of every head, in slot order, in the cache's dtype, and their
  // replacement by as many rows as given, of any float dtype; one launch for all on a GPU.
  static std::vector<SlotRows> last(const KvCache& cache, LayerId layer, std::span<const std::int64_t> counts);
  static void write_last(KvCache& cache, LayerId layer, std::span<const SlotRows> rows);

  // Restores the layer from `earlier`, a fork of this cache: shares its blocks and states again and frees what was added since.
  static void restore(KvCache& cache, LayerId layer, const KvCache& earlier);
};

// Slots in the form in which they are stored, where keys may lack their bias (KvShape::takes_bias()).
struct StoredSlots {
  // The first `count` slots (all if negative), in KvShape::exact_type(); SlotRows::positions says which keys lack the bias. For moving
  // rows, rotating keys and saving: writing what was read changes nothing. Readers get the bias rotated to the rows' positions.
  static SlotRows read(const KvCache& cache, LayerId layer, KvHead kv_head, std::int64_t count = -1);
  static void write(KvCache& cache, LayerId layer, KvHead kv_head, std::int64_t first_slot, const SlotRows& rows);

  // The bias of a cache on the CPU. Valid until the next change of the cache.
  static UnstoredBias bias(const KvCache& cache, LayerId layer, KvHead kv_head);

  // True for a block of 16-bit floats among blocks of codes.
  static bool is_wide(const KvCache& cache, LayerId layer, KvHead kv_head, std::int64_t block);
};

// A cache on a GPU for kernels and captured steps. Errors: kInternal for one on the CPU.
struct DeviceSide {
  // Block base pointers; valid until the next change of this layer. Copied to the device only after a block was added or freed.
  static DeviceBlocks blocks(const KvCache& cache, LayerId layer);

  // The layer's shared-slot data, beside blocks(). make: called only after a table or its slots have changed; consecutively appended tokens
  // change nothing. Forks share the values, which are copied to the device only when they differ.
  static DeviceNumbers numbers(const KvCache& cache, LayerId layer, const std::function<std::vector<std::int32_t>()>& make);

  // The address of the slot's K, for a kernel that writes it; its block has no other owner. Valid until the next change of this head.
  static void* key_to_write(KvCache& cache, LayerId layer, KvHead kv_head, std::int64_t slot);

  // Merges a slot into another one of its head, deferred as evict() is. Rounded once to the stored type.
  static void receive(KvCache& cache, LayerId layer, KvHead kv_head, const Inflow& inflow);

  // Captured steps write their rows themselves (append_rows()). make_room() gives every head room for one more slot in blocks of its own;
  // count_appended() counts the slots once the rows are written.
  static void make_room(KvCache& cache);
  static void count_appended(KvCache& cache, std::int32_t original);
};

// Appends rows of K and V [kv_heads, t, head_dim] to every head in GPU memory; the blocks exist and have no other owner.
void append_rows(const KvShape& shape, const DeviceSlots& slots, const at::Tensor& key, const at::Tensor& value);

// Bytes beside those of slots in use: states of layers without slots, slots within the windows of layers beside, and what wide blocks take
// more.
std::int64_t bytes_beside(const KvCache& cache);

// K and V blocks of several caches, and states, shared ones counted once.
std::int64_t bytes_allocated_together(std::span<const KvCache* const> caches);

}  // namespace winnow
