// Caches of codes whose first block and newest two blocks of a head hold 16 bits an element (KvShape::wide_ends).
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "engine/kv_cache/kv_cache.h"
#include "tests/engine/kv_cache/biased_shape.h"
#include "tests/support/allocation_probe.h"
#include "tests/support/kv_shape.h"

namespace winnow {
namespace {

// One layer and head of four numbers a row; a slot of codes takes 16 bytes in 8 bits, 8 in 4.
KvShape ends_shape(KvStorage storage = KvStorage::kInt8) {
  KvShape shape = test_support::kv_shape(1, 1, 4);
  shape.store_in(storage);
  return shape;
}

// Every row is (254, 3, -1, 0): as codes of 8 bits (254, 4, 0, 0), with a step of 2.
void append_rows_to(KvCache& cache, std::int64_t count) {
  const std::int64_t first = cache.slots(LayerId(0), KvHead(0));
  const at::Tensor rows = at::tensor({254.0F, 3.0F, -1.0F, 0.0F}).view({1, 1, 4}).expand({1, count, 4});
  std::vector<std::int32_t> original(static_cast<std::size_t>(count));
  std::iota(original.begin(), original.end(), static_cast<std::int32_t>(first));
  cache.append(LayerId(0), rows, rows, original);
}

// Of each slot, 'r' for a row that was rounded; runs as "64w 100r".
std::string runs_of(const KvCache& cache) {
  const at::Tensor keys = cache.gather_keys(LayerId(0), KvHead(0));
  const at::Tensor values = cache.gather_values(LayerId(0), KvHead(0));
  EXPECT_TRUE(at::equal(keys, values));
  std::string runs;
  std::int64_t run = 0;
  for (std::int64_t slot = 0; slot < keys.size(0); ++slot) {
    const auto rounded = [&](std::int64_t at) { return keys[at][1].item<float>() == 4.0F; };
    EXPECT_EQ(keys[slot][1].item<float>(), rounded(slot) ? 4.0F : 3.0F);
    ++run;
    if (slot + 1 < keys.size(0) && rounded(slot + 1) == rounded(slot)) continue;
    runs += (runs.empty() ? "" : " ") + std::to_string(run) + (rounded(slot) ? "r" : "w");
    run = 0;
  }
  return runs;
}

TEST(WideEnds, AreTheFirstBlockAndTheNewestTwo) {
  KvCache cache(ends_shape());
  append_rows_to(cache, 150);
  EXPECT_EQ(runs_of(cache), "150w");
  append_rows_to(cache, 150);  // 44 of the fifth block
  EXPECT_EQ(runs_of(cache), "64w 128r 108w");
  append_rows_to(cache, 20);
  EXPECT_EQ(runs_of(cache), "64w 128r 128w");
  append_rows_to(cache, 1);
  EXPECT_EQ(runs_of(cache), "64w 192r 65w");
  KvCache at_once(ends_shape());
  append_rows_to(at_once, 321);
  EXPECT_EQ(runs_of(at_once), "64w 192r 65w");
}

TEST(WideEnds, TakeBytesBesideThoseOfSlots) {
  testing::AllocationProbe probe;
  KvShape shape = ends_shape(KvStorage::kInt4);
  // In 16 bits a slot takes 16 bytes, 8 more than codes.
  EXPECT_EQ(shape.more_of_wide_block(), 64 * 8);
  EXPECT_EQ(shape.state_bytes(), 3 * 64 * 8);
  KvCache cache(shape);
  append_rows_to(cache, 300);
  EXPECT_EQ(cache.bytes_in_use(), 300 * 8);
  EXPECT_EQ(cache.bytes_allocated(), 5 * 64 * 8);
  EXPECT_EQ(bytes_beside(cache), 3 * 64 * 8);
  EXPECT_EQ(probe.live_bytes(), cache.bytes_allocated() + bytes_beside(cache));
  const KvCache fork = cache.fork();
  append_rows_to(cache, 30);
  const std::vector<const KvCache*> both = {&cache, &fork};
  EXPECT_EQ(bytes_allocated_together(both), probe.live_bytes());
}

TEST(WideEnds, OfAForkAreItsOwn) {
  KvCache cache(ends_shape());
  append_rows_to(cache, 300);
  KvCache fork = cache.fork();
  append_rows_to(fork, 30);
  EXPECT_EQ(runs_of(fork), "64w 192r 74w");
  EXPECT_EQ(runs_of(cache), "64w 128r 108w");
  WholeLayer::restore(fork, LayerId(0), cache);
  EXPECT_EQ(runs_of(fork), "64w 128r 108w");
}

TEST(WideEnds, ARowIsRoundedWhereItMovesAmongCodesAndNeverBetter) {
  KvCache cache(ends_shape());
  append_rows_to(cache, 300);
  cache.evict(LayerId(0), KvHead(0), 100);  // the last row takes its place
  cache.evict(LayerId(0), KvHead(0), 5);
  EXPECT_EQ(runs_of(cache), "64w 128r 106w");
  // All but the first ten and every second one of 128 codes: in the first block ten rows, then codes as they were.
  LayerPlan plan;
  plan.kept.emplace_back();
  for (std::int32_t slot = 0; slot < 298; ++slot) {
    if (slot < 10 || (slot >= 64 && slot < 192 && slot % 2 == 0) || slot >= 192) plan.kept.front().push_back(slot);
  }
  cache.compact_all(LayerId(0), plan);
  EXPECT_EQ(runs_of(cache), "10w 64r 106w") << "three blocks, all wide";
  EXPECT_EQ(bytes_beside(cache), 0) << "of four numbers a slot takes 16 bytes in 8 bits as in 16";
  append_rows_to(cache, 200);
  EXPECT_EQ(runs_of(cache), "10w 246r 124w");
}

TEST(WideEnds, BlocksThatCompactionLeavesBecomeCodesWhenTheyAreOld) {
  KvCache cache(ends_shape());
  append_rows_to(cache, 256);
  EXPECT_EQ(runs_of(cache), "64w 64r 128w");
  LayerPlan plan;
  plan.kept.emplace_back(200);
  std::iota(plan.kept.front().begin(), plan.kept.front().end(), 0);
  cache.compact_all(LayerId(0), plan);  // whose third block does not move
  EXPECT_EQ(runs_of(cache), "64w 64r 72w");
  append_rows_to(cache, 300);
  EXPECT_EQ(runs_of(cache), "64w 320r 116w");
}

TEST(WideEnds, KeysGiveUpTheirBiasWhenTheyBecomeCodes) {
  at::manual_seed(3);
  KvShape shape = testing::biased_shape(1, testing::slow_bias(2, 8));
  for (const KvStorage storage : {KvStorage::kInt8, KvStorage::kInt4}) {
    shape.store_in(storage);
    KvCache cache(shape);
    const at::Tensor positions = at::arange(0, 400, at::kLong).unsqueeze(0);
    const at::Tensor plain = at::randn({2, 400, 8});
    const at::Tensor keys = testing::with_bias(plain, *shape.key_bias, positions);
    std::vector<std::int32_t> original(400);
    std::iota(original.begin(), original.end(), 0);
    for (const auto& [first, count] : {std::pair(0, 150), {150, 1}, {151, 249}}) {
      cache.append(LayerId(0), keys.narrow(1, first, count), keys.narrow(1, first, count),
                   std::span(original).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
                   positions.narrow(1, first, count));
    }
    const SlotRows stored = StoredSlots::read(cache, LayerId(0), KvHead(1));
    EXPECT_TRUE(at::equal(stored.positions, positions)) << "all without their bias";
    const at::Tensor off = (cache.gather_keys(LayerId(0), KvHead(1)) - keys[1]).abs().amax(1);
    const double step = plain.abs().max().item<double>() * (storage == KvStorage::kInt8 ? 1.0 / 127.0 : std::sqrt(8.0) / 8.0);
    EXPECT_LT(off.max().item<double>(), 1.2 * step) << "a bias of 300 would make it ten times more";
    for (const auto& [first, count] : {std::pair(0, 64), {320, 80}}) EXPECT_LT(off.narrow(0, first, count).max().item<double>(), 4e-3);
    EXPECT_GT(off.narrow(0, 64, 256).max().item<double>(), 4e-3) << "those between were rounded";
  }
}

}  // namespace
}  // namespace winnow
