// The block pointers of a layer as kernels on a GPU read them, in its memory. Written there when a block came or went, in the same place
// while they fit there, for captured steps know the place; forks share it until one of them changes.
//
// Used inside engine/kv_cache. Engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>
#include <vector>

#include "engine/kv_cache/cached_head.h"
#include "engine/kv_cache/kv_cache.h"

namespace winnow {

class BlockTable {
 public:
  static constexpr std::int64_t kSpareBlocks = 4;  // spare entries of a head in a new table

  // Call after a block of the layer was added, freed or replaced.
  void note_changed() { stale_ = true; }
  // heads: of the layer. Valid until the next call after a change; later readers keep pointers().
  DeviceBlocks blocks_of(std::span<const CachedHead> heads, at::Device device);
  // int64 [2 (K, V), kv_heads, stride] on the device.
  const at::Tensor& pointers() const { return pointers_; }

 private:
  at::Tensor pointers_;
  std::vector<std::int64_t> host_;  // its contents
  std::int64_t stride_ = 0;
  bool stale_ = true;
};

}  // namespace winnow
