// That a layer's cache on the emulated GPU is the CPU's.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/kv_cache/kv_cache.h"

namespace winnow::testing {

// Every head's slots to the bit, and what the caches take.
inline void expect_equal_layers(const KvCache& cpu, const KvCache& gpu, LayerId layer) {
  for (KvHead head{0}; head < cpu.shape().kv_heads; ++head) {
    ASSERT_TRUE(std::ranges::equal(gpu.original(layer, head), cpu.original(layer, head)));
    EXPECT_TRUE(at::equal(gpu.gather_keys(layer, head).to(at::kCPU), cpu.gather_keys(layer, head)));
    EXPECT_TRUE(at::equal(gpu.gather_values(layer, head).to(at::kCPU), cpu.gather_values(layer, head)));
  }
  EXPECT_EQ(gpu.bytes_allocated(), cpu.bytes_allocated());
  EXPECT_EQ(gpu.bytes_in_use(), cpu.bytes_in_use());
}

}  // namespace winnow::testing
