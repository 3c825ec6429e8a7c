// Blocks on a GPU are taken many at a time, and what the cache says of its memory is still what it holds of the device's.
#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "engine/kv_cache/block_pool.h"
#include "engine/kv_cache/kv_cache.h"
#include "tests/engine/emulated_gpu/emulated_device.h"

namespace winnow::testing {
namespace {

using Blocks = std::vector<std::shared_ptr<KvBlock>>;

class BlockPoolOnEmulatedGpu : public OnEmulatedGpu {
 protected:
  static constexpr std::int64_t kHeads = 4;

  void SetUp() override {
    OnEmulatedGpu::SetUp();
    shape_.layers = 3;
    shape_.kv_heads = kHeads;
    shape_.head_dim = 64;
    shape_.device = kEmulatedGpu;
  }

  std::int64_t block_bytes() const { return KvCache::kBlockSlots * shape_.slot_bytes(); }
  std::int64_t most_blocks() const { return BlockPool::kMostBytes / block_bytes(); }

  void append(KvCache& cache, LayerId layer, std::int64_t tokens) const {
    const at::Tensor rows = at::zeros({kHeads, tokens, shape_.head_dim}).to(kEmulatedGpu);
    std::vector<std::int32_t> original(static_cast<std::size_t>(tokens));
    std::iota(original.begin(), original.end(), static_cast<std::int32_t>(cache.slots(layer, KvHead(0))));
    cache.append(layer, rows, rows, original);
  }

  // Of all heads of the layer: `leading` slots and every third behind them.
  static void compact(KvCache& cache, LayerId layer, std::int32_t leading) {
    LayerPlan plan;
    plan.kept.resize(kHeads);
    for (KvHead head{0}; head < kHeads; ++head) {
      for (std::int32_t slot = 0; slot < cache.slots(layer, head); ++slot) {
        if (slot < leading || slot % 3 == 2) plan.kept[static_cast<std::size_t>(head)].push_back(slot);
      }
    }
    cache.compact_all(layer, plan);
  }

  KvShape shape_;
  c10::InferenceMode inference_;
};

TEST_F(BlockPoolOnEmulatedGpu, TakesManyByOneAllocation) {
  BlockPool pool(shape_);
  Blocks blocks;
  const EmulatedGpuCounts cost = cost_of([&] { blocks = pool.take(3 * most_blocks() + 1); });
  EXPECT_EQ(cost.allocations, 4);
  EXPECT_EQ(cost.bytes_held, std::ssize(blocks) * block_bytes());
  std::vector<const std::byte*> begin;
  for (const auto& block : blocks) {
    begin.push_back(block->begin_of(KvPart::kKeys));
    EXPECT_EQ(block->begin_of(KvPart::kValues) - begin.back(), block_bytes() / 2);
    EXPECT_EQ(block->rows(KvPart::kKeys, 3, 2).const_data_ptr(), begin.back() + 3 * shape_.slot_bytes() / 2);
    EXPECT_EQ(block->rows(KvPart::kValues, 3, 2).const_data_ptr(), begin.back() + block_bytes() / 2 + 3 * shape_.slot_bytes() / 2);
  }
  std::ranges::sort(begin);
  for (std::size_t i = 1; i < begin.size(); ++i) EXPECT_GE(begin[i] - begin[i - 1], block_bytes());
}

TEST_F(BlockPoolOnEmulatedGpu, APlaceIsTakenAgainAndMemoryGoesWithItsLastBlock) {
  BlockPool pool(shape_);
  Blocks blocks = pool.take(10);
  const std::byte* const place = blocks[4]->begin_of(KvPart::kKeys);
  blocks[4].reset();
  EmulatedGpuCounts cost = cost_of([&] { blocks[4] = pool.take_one(); });
  EXPECT_EQ(cost.allocations, 0);
  EXPECT_EQ(blocks[4]->begin_of(KvPart::kKeys), place);
  cost = cost_of([&] {
    const auto last = blocks.back();
    blocks.clear();
  });
  EXPECT_EQ(cost.bytes_held, -10 * block_bytes());
  cost = cost_of([&] { blocks = pool.take(2); });
  EXPECT_EQ(cost.bytes_held, 2 * block_bytes()) << "what has gone is not taken again";
}

TEST_F(BlockPoolOnEmulatedGpu, HoldsNoMoreThanOnceWasInUse) {
  BlockPool pool(shape_);
  std::mt19937 random(8);
  Blocks blocks;
  std::int64_t most = 0;
  std::int64_t held = 0;
  for (int step = 0; step < 200; ++step) {
    held += cost_of([&] {
              if (step % 3 != 2) {
                for (auto& block : pool.take(random() % 60)) blocks.push_back(std::move(block));
              } else {
                std::ranges::shuffle(blocks, random);
                blocks.resize(random() % (blocks.size() + 1));
              }
            }).bytes_held;
    most = std::max(most, std::ssize(blocks) * block_bytes());
    EXPECT_GE(held, std::ssize(blocks) * block_bytes());
    EXPECT_LE(held, most);
  }
}

TEST_F(BlockPoolOnEmulatedGpu, WhatACacheFreesIsFreed) {
  for (const std::int32_t leading : {0, 40, 200}) {
    SCOPED_TRACE(leading);
    KvCache cache(shape_);
    const EmulatedGpuCounts cost = cost_of([&] {
      for (LayerId layer{0}; layer < shape_.layers; ++layer) {
        append(cache, layer, 3000);
        compact(cache, layer, leading);
      }
    });
    const std::int64_t tables = shape_.layers * 2 * kHeads * 64 * 8;  // at most
    EXPECT_GE(cost.bytes_held, cache.bytes_allocated());
    // Blocks of slots that do not move stay in one allocation, the rest of which is free.
    EXPECT_LE(cost.bytes_held, cache.bytes_allocated() + tables + (leading < KvCache::kBlockSlots ? 0 : BlockPool::kMostBytes));
    const EmulatedGpuCounts more = cost_of([&] { append(cache, LayerId(0), KvCache::kBlockSlots); });
    EXPECT_LE(more.allocations, 3) << "rows, blocks, table";
  }
}

TEST_F(BlockPoolOnEmulatedGpu, ForksTakePlacesThatOthersLeft) {
  KvCache cache(shape_);
  append(cache, LayerId(0), 100);
  const EmulatedGpuCounts cost = cost_of([&] {
    KvCache fork = cache.fork();
    append(fork, LayerId(0), 1);   // the block that is begun becomes its own
    append(cache, LayerId(0), 1);  // and this one has another owner still
    cache = std::move(fork);
  });
  const std::int64_t table = 2 * kHeads * 6 * 8;
  EXPECT_LE(cost.bytes_held, kHeads * block_bytes() + table);
  const EmulatedGpuCounts more = cost_of([&] { append(cache, LayerId(0), KvCache::kBlockSlots); });
  EXPECT_LE(more.bytes_held, table) << "in the places that are free";
}

}  // namespace
}  // namespace winnow::testing
