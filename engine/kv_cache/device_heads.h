// The heads of a cache in GPU memory: block pointers and shared-slot tables for kernels, pending slot changes, and reading, writing and
// moving rows in one launch for a head or for all heads of a layer.
//
// Used inside engine/kv_cache, which owns the slots and blocks; a cache on the CPU has no such object. Pending changes are carried out
// before anything is read or written. Blocks that are written exist and have no other owner. Copies share device memory and must be made
// without pending changes. Errors: kDeviceFailed. Engine thread only.
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
  // Keeps a dropped block alive for pending changes that read it.
  void keep(std::shared_ptr<KvBlock> block) { changes_.keep(std::move(block)); }
  // index: of the head, counted over all layers.
  void note_move(std::size_t index, const CachedHead& head, std::int64_t from, std::int64_t to);
  void note_inflow(std::size_t index, const CachedHead& head, const Inflow& inflow);
  void carry_out_changes() { changes_.carry_out(shape_); }

  DeviceBlocks blocks_of(LayerId layer, Heads heads);
  DeviceNumbers numbers_of(LayerId layer, Heads heads, const std::function<std::vector<std::int32_t>()>& make);

  // Appends to every head. key, value: [kv_heads, t, head_dim].
  void append(LayerId layer, Heads heads, const at::Tensor& key, const at::Tensor& value);
  // From a slot of one head on.
  struct Slot {
    KvHead kv_head;
    std::int64_t slot = 0;
  };
  void write(LayerId layer, Heads heads, const Slot& first, const SlotRows& rows);
  // The first `count` slots of one head.
  SlotRows read(LayerId layer, Heads heads, KvHead kv_head, std::int64_t count);
  // Reads rows of all heads: ranges; or all from slots `first` on.
  std::vector<SlotRows> read(LayerId layer, Heads heads, const SlotRanges& ranges);
  void write(LayerId layer, Heads heads, const std::vector<std::int32_t>& first, std::span<const SlotRows> rows);

  // The moves of a compaction: described before the heads change and carried out afterwards.
  struct Move {
    DeviceBlocks from;
    at::Tensor table;                                // owns the memory of the pointers
    std::vector<std::shared_ptr<KvBlock>> blocks{};  // kept until the launch: an earlier allocation could reuse their memory
    SlotRanges written{};
    std::vector<std::int32_t> sources{};
  };
  Move planned(LayerId layer, Heads heads, std::span<const std::optional<HeadMove>> moves);
  void carry_out(const Move& move, LayerId layer, Heads heads);

 private:
  // One head in a layer's table.
  DeviceBlocks blocks_of(LayerId layer, Heads heads, KvHead kv_head);

  KvShape shape_;
  PerLayer<BlockTable> tables_;
  PerLayer<KeptNumbers> numbers_;
  SlotChanges changes_;
};

}  // namespace winnow
