// Layers with a window that have KV heads of their own: a cache beside the others' slots.
#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "engine/kv_cache/kv_cache.h"
#include "tests/support/kv_shape.h"

namespace winnow {
namespace {

// Two layers of one KV head; a layer of two shorter ones comes before the first, two before the second.
KvShape shape_with_slots_beside(KvStorage storage = KvStorage::kWide) {
  KvShape beside = test_support::kv_shape(3, 2, 2);
  beside.windows = PerLayer<std::int64_t>({5, 5, 5});
  KvShape shape = test_support::kv_shape(2, 1, 4);
  shape.storage = storage;
  shape.sliding = std::make_shared<const KvShape>(beside);
  shape.sliding_with = PerLayer<std::int64_t>({1, 2});
  return shape;
}
constexpr std::int64_t kSlotBytes = 2 * 2 * 4;  // K and V of two fp32 elements

void append_beside(KvCache& cache, LayerId layer, std::int32_t token) {
  const at::Tensor rows = at::full({2, 1, 2}, static_cast<double>(token));
  cache.sliding()->append(layer, rows, rows, std::array{token});
}

TEST(SlidingSlots, AreNoneWhereNoLayerHasThem) {
  KvShape shape = shape_with_slots_beside();
  shape.sliding = nullptr;
  const KvCache cache(shape);
  EXPECT_EQ(cache.sliding(), nullptr);
  EXPECT_EQ(bytes_beside(cache), 0);
  EXPECT_EQ(shape.state_bytes(), 0);
}

TEST(SlidingSlots, AreCountedBesideTheOthers) {
  KvCache cache(shape_with_slots_beside());
  append_beside(cache, LayerId(2), 7);
  EXPECT_EQ(bytes_beside(cache), 2 * kSlotBytes);
  EXPECT_EQ(cache.bytes_in_use(), 0);
  EXPECT_EQ(cache.shape().state_bytes(), 3 * 2 * 4 * kSlotBytes) << "windows that are full";
  EXPECT_EQ(cache.shape().token_bytes(), 2 * 2 * 4 * 4) << "of the layers that grow";
}

TEST(SlidingSlots, AreStoredAsTheOthersAre) {
  KvCache cache(shape_with_slots_beside(KvStorage::kHalf));
  EXPECT_EQ(cache.sliding()->shape().storage, KvStorage::kHalf);
  append_beside(cache, LayerId(0), 7);
  EXPECT_EQ(bytes_beside(cache), kSlotBytes);
}

TEST(SlidingSlots, OfAForkAreItsOwnOnceItReads) {
  KvCache cache(shape_with_slots_beside());
  append_beside(cache, LayerId(0), 1);
  KvCache fork = cache.fork();
  const std::array<const KvCache*, 2> both = {&cache, &fork};
  const std::int64_t shared = bytes_allocated_together(both);
  EXPECT_EQ(shared, 2 * KvCache::kBlockSlots * kSlotBytes);
  append_beside(fork, LayerId(0), 2);
  EXPECT_EQ(cache.sliding()->slots(LayerId(0), KvHead(1)), 1);
  EXPECT_EQ(fork.sliding()->slots(LayerId(0), KvHead(1)), 2);
  EXPECT_EQ(bytes_allocated_together(both), 2 * shared);
}

TEST(SlidingSlots, OfALayerAreRestoredWithIt) {
  KvCache cache(shape_with_slots_beside());
  for (LayerId layer{0}; layer < 3; ++layer) append_beside(cache, layer, 1);
  const KvCache before = cache.fork();
  for (LayerId layer{0}; layer < 3; ++layer) append_beside(cache, layer, 2);
  const auto slots = [&](std::int64_t layer) { return cache.sliding()->slots(LayerId(layer), KvHead(0)); };
  WholeLayer::restore(cache, LayerId(1), before);
  EXPECT_EQ(slots(0), 2);
  EXPECT_EQ(slots(1), 1);
  EXPECT_EQ(slots(2), 1);
  WholeLayer::restore(cache, LayerId(0), before);
  EXPECT_EQ(slots(0), 1);
}

}  // namespace
}  // namespace winnow
