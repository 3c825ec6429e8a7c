// Heads of a cache in the memory of a GPU: where kernels find their blocks, what they are told of shared slots, which slots have yet to
// change, and how rows are read, written and moved there: by one launch, of one head or of all heads of a layer.
//
// Used inside engine/kv_cache, which says what heads have and keeps their blocks; a cache on the CPU has none of this. Noted changes are
// carried out before anything is read or written. Blocks that are written are there and have no other owner. Copies share what lies on the
// device; nothing may be noted then. Errors: kDeviceFailed. Engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/index.h"
#include "engine/base/per_layer.h"
#include "engine/kv_cache/block_table.h"
#include "engine/kv_cache/cached_head.h"
#include "engine/kv_cache/device_rows.h"
#include "engine/kv_cache/head_move.h"
#include "engine/kv_cache/kept_numbers.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/kv_cache/slot_changes.h"

namespace winnow {

class DeviceHeads {
 public:
  // All heads of a layer.
  using Heads = std::span<const CachedHead>;

  explicit DeviceHeads(const KvShape& shape);

  void note_blocks_changed(LayerId layer) { tables_[layer].note_changed(); }
  // Of a block that its head drops: what is noted may read it.
  void keep(std::shared_ptr<KvBlock> block) { changes_.keep(std::move(block)); }
  // index: of the head among all layers'.
  void note_move(std::size_t index, const CachedHead& head, std::int64_t from, std::int64_t to);
  void note_inflow(std::size_t index, const CachedHead& head, const Inflow& inflow);
  void carry_out_changes() { changes_.carry_out(shape_); }

  DeviceBlocks blocks_of(LayerId layer, Heads heads);
  DeviceNumbers numbers_of(LayerId layer, Heads heads, const std::function<std::vector<std::int32_t>()>& make);

  // Behind the slots of every head. key, value: [kv_heads, t, head_dim].
  void append(LayerId layer, Heads heads, const at::Tensor& key, const at::Tensor& value);
  // From a slot of one head on.
  struct Slot {
    KvHead kv_head;
    std::int64_t slot = 0;
  };
  void write(LayerId layer, Heads heads, const Slot& first, const SlotRows& rows);
  // The first `count` slots of one head.
  SlotRows read(LayerId layer, Heads heads, KvHead kv_head, std::int64_t count);
  // Of all heads: ranges; from slots `first` on.
  std::vector<SlotRows> read(LayerId layer, Heads heads, const SlotRanges& ranges);
  void write(LayerId layer, Heads heads, const std::vector<std::int32_t>& first, std::span<const SlotRows> rows);

  // What compaction moves, told before the heads are what it leaves and carried out afterwards.
  struct Move {
    DeviceBlocks from;
    at::Tensor table;                              // whose memory those lie in
    std::vector<std::shared_ptr<KvBlock>> blocks;  // stay until the launch: what is allocated before it could take their place
    SlotRanges written;
    std::vector<std::int32_t> sources;
  };
  Move planned(LayerId layer, Heads heads, std::span<const std::optional<HeadMove>> moves);
  void carry_out(const Move& move, LayerId layer, Heads heads);

 private:
  // What a layer's table has of one head.
  DeviceBlocks blocks_of(LayerId layer, Heads heads, KvHead kv_head);

  KvShape shape_;
  PerLayer<BlockTable> tables_;
  PerLayer<KeptNumbers> numbers_;
  SlotChanges changes_;
};

}  // namespace winnow
