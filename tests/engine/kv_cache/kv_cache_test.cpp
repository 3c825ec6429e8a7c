#include "engine/kv_cache/kv_cache.h"

#include <gtest/gtest.h>

#include <numeric>

#include "engine/base/error.h"
#include "engine/kv_cache/stored_rows.h"
#include "tests/support/allocation_probe.h"
#include "tests/support/kv_shape.h"

namespace winnow {
namespace {

KvShape small_shape(at::ScalarType dtype = at::kFloat) {
  KvShape shape = test_support::kv_shape(2, 3, 4);
  shape.dtype = dtype;
  return shape;
}

// K of token i in head h is (100 h + i) in every element, V its negative: exact in fp32.
at::Tensor keys_of(const KvShape& shape, std::int32_t first, std::int64_t count) {
  const at::Tensor tokens = at::arange(first, first + count, at::kFloat).view({1, count, 1});
  const at::Tensor heads = at::arange(0, shape.kv_heads, at::kFloat).view({shape.kv_heads, 1, 1}) * 100;
  return (tokens + heads).expand({shape.kv_heads, count, shape.head_dim}).contiguous().to(shape.dtype);
}

void append(KvCache& cache, LayerId layer, std::int32_t first, std::int64_t count) {
  std::vector<std::int32_t> original(static_cast<std::size_t>(count));
  std::iota(original.begin(), original.end(), first);
  const at::Tensor keys = keys_of(cache.shape(), first, count);
  cache.append(layer, keys, -keys, original);
}

std::vector<float> first_column(const at::Tensor& rows) {
  const at::Tensor column = rows.to(at::kFloat).select(1, 0).contiguous();
  return {column.const_data_ptr<float>(), column.const_data_ptr<float>() + column.numel()};
}

std::vector<std::int32_t> originals(const KvCache& cache, LayerId layer, KvHead head) {
  const auto span = cache.original(layer, head);
  return {span.begin(), span.end()};
}

ErrorCode code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Exception& exception) {
    return exception.error().code;
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorCode::kStorage;
}

TEST(KvCache, CountsBytesExactly) {
  KvCache cache(small_shape());
  EXPECT_EQ(cache.bytes_allocated(), 0);
  append(cache, LayerId(1), 0, 65);
  // A slot is K and V of 4 floats = 32 bytes; 65 slots need two blocks of 64 in each of 3 heads.
  EXPECT_EQ(cache.bytes_in_use(LayerId(0)), 0);
  EXPECT_EQ(cache.bytes_in_use(LayerId(1)), 65 * 3 * 32);
  EXPECT_EQ(cache.bytes_in_use(), 65 * 3 * 32);
  EXPECT_EQ(cache.bytes_metadata(), 65 * 3 * 4);
  EXPECT_EQ(cache.bytes_allocated(), 2 * 64 * 3 * 32);
  EXPECT_EQ(cache.bytes_peak(), 2 * 64 * 3 * 32);
  KvCache half(small_shape(at::kBFloat16));
  append(half, LayerId(0), 0, 10);
  EXPECT_EQ(half.bytes_in_use(), 10 * 3 * 16);
}

TEST(KvCache, GrowthMovesNoBlock) {
  KvCache cache(small_shape());
  append(cache, LayerId(0), 0, 64);
  const void* first = cache.key_blocks(LayerId(0), KvHead(1))[0];
  for (int i = 0; i < 200; ++i) append(cache, LayerId(0), 64 + i, 1);
  EXPECT_EQ(cache.key_blocks(LayerId(0), KvHead(1))[0], first);
  EXPECT_EQ(cache.key_blocks(LayerId(0), KvHead(1)).size(), 5U);
  EXPECT_EQ(static_cast<const float*>(cache.key_blocks(LayerId(0), KvHead(1))[4])[0], 100.0F + 256.0F);
  EXPECT_EQ(static_cast<const float*>(cache.value_blocks(LayerId(0), KvHead(1))[4])[7 * 4], -(100.0F + 263.0F));
}

TEST(KvCache, AppendsStridedInput) {
  KvCache cache(small_shape());
  const at::Tensor dense = keys_of(cache.shape(), 0, 70);
  const at::Tensor by_token = dense.transpose(0, 1).contiguous().transpose(0, 1);   // as a fused projection leaves it
  const at::Tensor by_column = dense.transpose(1, 2).contiguous().transpose(1, 2);  // head_dim not contiguous
  std::vector<std::int32_t> original(70);
  std::iota(original.begin(), original.end(), 0);
  cache.append(LayerId(0), by_token, by_column, original);
  for (int head = 0; head < 3; ++head) {
    EXPECT_TRUE(at::equal(cache.gather_keys(LayerId(0), KvHead(head)), dense[head]));
    EXPECT_TRUE(at::equal(cache.gather_values(LayerId(0), KvHead(head)), dense[head]));
  }
}

TEST(KvCache, CompactionKeepsRaggedRowsAndFreesTheRest) {
  testing::AllocationProbe probe;
  KvCache cache(small_shape());
  append(cache, LayerId(0), 0, 10);    // earlier turn
  append(cache, LayerId(0), 10, 300);  // segment
  const std::int64_t before = probe.live_bytes();
  EXPECT_EQ(before, cache.bytes_allocated());
  LayerPlan plan{.kept = {{0, 5, 299}, {}, {1}}};
  cache.compact(LayerId(0), 300, plan);
  EXPECT_EQ(cache.slots(LayerId(0), KvHead(0)), 13);
  EXPECT_EQ(cache.slots(LayerId(0), KvHead(1)), 10);
  EXPECT_EQ(cache.slots(LayerId(0), KvHead(2)), 11);
  EXPECT_EQ(originals(cache, LayerId(0), KvHead(0)), (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 309}));
  EXPECT_EQ(first_column(cache.gather_keys(LayerId(0), KvHead(2))),
            (std::vector<float>{200, 201, 202, 203, 204, 205, 206, 207, 208, 209, 211}));
  EXPECT_EQ(first_column(cache.gather_values(LayerId(0), KvHead(0), 2)), (std::vector<float>{0, -1}));
  EXPECT_EQ(cache.bytes_in_use(), (13 + 10 + 11) * 32);
  EXPECT_EQ(cache.bytes_allocated(), 3 * 64 * 32);
  EXPECT_EQ(probe.live_bytes(), 3 * 64 * 32);  // the allocator agrees: freed is freed
  EXPECT_EQ(probe.live_blocks(), 3);
  EXPECT_EQ(cache.bytes_peak(), before + 64 * 32);  // one head's fresh block at a time
}

TEST(KvCache, ALayerIsPutBackToWhatAnEarlierForkHolds) {
  testing::AllocationProbe probe;
  KvCache cache(small_shape());
  for (LayerId layer{0}; layer < 2; ++layer) append(cache, layer, 0, 70);
  const std::int64_t before = probe.live_bytes();
  {
    const KvCache earlier = cache.fork();
    for (LayerId layer{0}; layer < 2; ++layer) append(cache, layer, 70, 300);
    LayerPlan plan{.kept = {{5}, {}, {1, 69}}};
    cache.compact_all(LayerId(0), plan);  // as a window forgets
    WholeLayer::restore(cache, LayerId(0), earlier);
    EXPECT_EQ(cache.bytes_in_use(LayerId(0)), 3 * 70 * 32);
    EXPECT_EQ(cache.bytes_in_use(LayerId(1)), 3 * 370 * 32) << "the other layer is not concerned";
    EXPECT_EQ(cache.bytes_allocated(), (3 * 2 + 3 * 6) * 64 * 32);
    WholeLayer::restore(cache, LayerId(1), earlier);
    EXPECT_EQ(cache.bytes_allocated(), before);
    for (LayerId layer{0}; layer < 2; ++layer) {
      for (KvHead head{0}; head < 3; ++head) {
        EXPECT_EQ(originals(cache, layer, head), originals(earlier, layer, head));
        EXPECT_EQ(first_column(cache.gather_keys(layer, head)), first_column(earlier.gather_keys(layer, head)));
        EXPECT_EQ(cache.key_blocks(layer, head)[0], earlier.key_blocks(layer, head)[0]) << "shared, not copied";
      }
    }
    append(cache, LayerId(0), 70, 10);
    EXPECT_EQ(earlier.slots(LayerId(0), KvHead(0)), 70);
    EXPECT_EQ(first_column(earlier.gather_keys(LayerId(0), KvHead(1))).back(), 169.0F);
    WholeLayer::restore(cache, LayerId(0), earlier);
  }
  EXPECT_EQ(probe.live_bytes(), before);
}

TEST(KvCache, CompactionThatKeepsAllTouchesNothing) {
  KvCache cache(small_shape());
  append(cache, LayerId(0), 0, 100);
  const void* block = cache.key_blocks(LayerId(0), KvHead(0))[1];
  std::vector<std::int32_t> all(100);
  std::iota(all.begin(), all.end(), 0);
  LayerPlan plan{.kept = {all, all, all}};
  cache.reset_peak();
  cache.compact(LayerId(0), 100, plan);
  EXPECT_EQ(cache.key_blocks(LayerId(0), KvHead(0))[1], block);
  EXPECT_EQ(cache.bytes_peak(), cache.bytes_allocated());
}

TEST(KvCache, PeakFollowsTheAllocatorAndCanBeReset) {
  KvCache cache(small_shape());
  const at::Tensor keys = keys_of(cache.shape(), 0, 640);
  std::vector<std::int32_t> original(640);
  std::iota(original.begin(), original.end(), 0);
  testing::AllocationProbe probe;  // after the test's own tensors
  cache.append(LayerId(0), keys, keys, original);
  LayerPlan plan{.kept = {{639}, {639}, {639}}};
  cache.compact(LayerId(0), 640, plan);
  EXPECT_EQ(cache.bytes_peak(), probe.peak_bytes());
  cache.reset_peak();
  EXPECT_EQ(cache.bytes_peak(), cache.bytes_allocated());
}

TEST(KvCache, EvictMovesTheLastSlotIn) {
  KvCache cache(small_shape());
  append(cache, LayerId(0), 0, 65);
  cache.evict(LayerId(0), KvHead(0), 3);
  EXPECT_EQ(cache.slots(LayerId(0), KvHead(0)), 64);
  EXPECT_EQ(cache.slots(LayerId(0), KvHead(1)), 65);
  EXPECT_EQ(cache.original(LayerId(0), KvHead(0))[3], 64);
  EXPECT_EQ(first_column(cache.gather_keys(LayerId(0), KvHead(0)))[3], 64.0F);
  EXPECT_EQ(cache.bytes_allocated(), (1 + 2 + 2) * 64 * 32);
  cache.evict(LayerId(0), KvHead(0), 63);  // the last slot itself
  EXPECT_EQ(cache.original(LayerId(0), KvHead(0))[62], 62);
}

TEST(KvCache, ForkSharesUntilOneSideWrites) {
  testing::AllocationProbe probe;
  KvCache cache(small_shape());
  append(cache, LayerId(0), 0, 100);
  const std::int64_t alone = probe.live_bytes();
  KvCache copy = cache.fork();
  EXPECT_EQ(probe.live_bytes(), alone);
  EXPECT_EQ(copy.key_blocks(LayerId(0), KvHead(2))[0], cache.key_blocks(LayerId(0), KvHead(2))[0]);
  append(copy, LayerId(0), 500, 1);
  // Only the half-full last block of each head was copied.
  EXPECT_EQ(probe.live_bytes(), alone + 3 * 64 * 32);
  EXPECT_EQ(copy.key_blocks(LayerId(0), KvHead(2))[0], cache.key_blocks(LayerId(0), KvHead(2))[0]);
  EXPECT_NE(copy.key_blocks(LayerId(0), KvHead(2))[1], cache.key_blocks(LayerId(0), KvHead(2))[1]);
  EXPECT_EQ(cache.slots(LayerId(0), KvHead(0)), 100);
  append(cache, LayerId(0), 100, 1);
  EXPECT_EQ(first_column(cache.gather_keys(LayerId(0), KvHead(0))).back(), 100.0F);
  EXPECT_EQ(first_column(copy.gather_keys(LayerId(0), KvHead(0))).back(), 500.0F);
  copy.evict(LayerId(0), KvHead(1), 0);
  EXPECT_EQ(first_column(cache.gather_keys(LayerId(0), KvHead(1))).front(), 100.0F);
  EXPECT_EQ(first_column(copy.gather_keys(LayerId(0), KvHead(1))).front(), 600.0F);
}

TEST(KvCache, ForkOutlivesItsSource) {
  auto cache = std::make_unique<KvCache>(small_shape());
  append(*cache, LayerId(1), 0, 70);
  KvCache copy = cache->fork();
  cache.reset();
  EXPECT_EQ(first_column(copy.gather_keys(LayerId(1), KvHead(1))).back(), 169.0F);
}

TEST(KvCache, GathersEmptyHeads) {
  KvCache cache(small_shape());
  EXPECT_EQ(cache.gather_keys(LayerId(0), KvHead(0)).sizes(), (at::IntArrayRef{0, 4}));
  EXPECT_TRUE(cache.key_blocks(LayerId(0), KvHead(0)).empty());
}

KvShape narrow_shape(at::ScalarType dtype = at::kFloat, KvStorage storage = KvStorage::kInt8) {
  KvShape shape = small_shape(dtype);
  shape.storage = storage;
  return shape;
}

TEST(KvCache, FourBitsTakeHalfAByteANumberAndTwoForThirtyTwo) {
  KvShape shape = narrow_shape(at::kFloat, KvStorage::kInt4);
  EXPECT_EQ(shape.slot_bytes(), 2 * (2 + 2));
  shape.head_dim = 128;
  EXPECT_EQ(shape.slot_bytes(), 2 * (64 + 8)) << "of 512 in 16 bits";
  shape.head_dim = 80;
  EXPECT_EQ(shape.slot_bytes(), 2 * (40 + 6));
  KvCache cache(shape);
  const std::vector<std::int32_t> original = {0};
  const at::Tensor rows = at::randn({3, 1, 80});
  cache.append(LayerId(0), rows, rows, original);
  EXPECT_EQ(cache.bytes_in_use(), 3 * 92);
}

TEST(KvCache, EightBitsTakeAByteANumberAndFourARow) {
  testing::AllocationProbe probe;
  KvCache cache(narrow_shape(at::kBFloat16));
  append(cache, LayerId(1), 0, 65);
  // A slot is K and V of 4 bytes and a scale each = 16 bytes.
  EXPECT_EQ(cache.shape().slot_bytes(), 16);
  EXPECT_EQ(cache.bytes_in_use(), 65 * 3 * 16);
  EXPECT_EQ(cache.bytes_allocated(), 2 * 64 * 3 * 16);
  EXPECT_EQ(probe.live_bytes(), cache.bytes_allocated());
  EXPECT_EQ(cache.shape().full_bytes(65), 2 * 65 * 3 * 16);
  EXPECT_EQ(cache.shape().token_bytes(), 2 * 3 * 16);
}

TEST(KvCache, EightBitsAreReadInTheModelsTypeAndRoundedWhenWritten) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    KvCache cache(narrow_shape(type));
    const at::Tensor keys = at::tensor({254.0F, 3.0F, -1.0F, 0.0F}).to(type);
    const at::Tensor rows = keys.view({1, 1, 4}).expand({3, 1, 4});
    const std::vector<std::int32_t> original = {7};
    cache.append(LayerId(0), rows, rows, original);
    const at::Tensor read = cache.gather_keys(LayerId(0), KvHead(2));
    EXPECT_EQ(read.scalar_type(), type);
    EXPECT_TRUE(at::equal(read[0], at::tensor({254.0F, 4.0F, 0.0F, 0.0F}).to(type)));
    cache.write(LayerId(0), KvHead(2), 0, at::tensor({12.7F, 0.26F, 0.0F, 0.0F}).unsqueeze(0), at::zeros({1, 4}));
    EXPECT_TRUE(
        at::allclose(cache.gather_keys(LayerId(0), KvHead(2)).to(at::kFloat)[0], at::tensor({12.7F, 0.3F, 0.0F, 0.0F}), 1e-2, 1e-3));
    EXPECT_TRUE(at::equal(cache.gather_values(LayerId(0), KvHead(2)).to(at::kFloat), at::zeros({1, 4})));
    EXPECT_TRUE(at::equal(cache.gather_keys(LayerId(0), KvHead(1))[0], read[0])) << "the other heads keep theirs";
  }
}

// A merge writes all rows of an event, most of them unchanged.
TEST(KvCache, WhatWasReadIsStoredAgainAsItWas) {
  for (const auto& [type, storage] : {std::pair(at::kFloat, KvStorage::kInt8),
                                      {at::kBFloat16, KvStorage::kInt8},
                                      {at::kHalf, KvStorage::kInt8},
                                      {at::kFloat, KvStorage::kInt4},
                                      {at::kHalf, KvStorage::kInt4}}) {
    at::manual_seed(3);
    KvCache cache(narrow_shape(type, storage));
    const std::int64_t code_bytes = storage == KvStorage::kInt8 ? 4 : 2;
    const std::int64_t scale_bytes = code_bytes;
    std::vector<std::int32_t> original(100);
    std::iota(original.begin(), original.end(), 0);
    cache.append(LayerId(0), at::randn({3, 100, 4}).to(type), at::randn({3, 100, 4}).to(type), original);
    KvCache copy = cache.fork();
    const at::Tensor keys = cache.gather_keys(LayerId(0), KvHead(0));
    const at::Tensor values = cache.gather_values(LayerId(0), KvHead(0));
    copy.assign(LayerId(0), KvHead(0), keys, values, original);
    copy.write(LayerId(0), KvHead(0), 30, keys.narrow(0, 30, 50), values.narrow(0, 30, 50));
    for (std::size_t block = 0; block < 2; ++block) {
      ASSERT_NE(copy.key_blocks(LayerId(0), KvHead(0))[block], cache.key_blocks(LayerId(0), KvHead(0))[block]);
      const auto* mine = static_cast<const std::int8_t*>(copy.key_blocks(LayerId(0), KvHead(0))[block]);
      const auto* theirs = static_cast<const std::int8_t*>(cache.key_blocks(LayerId(0), KvHead(0))[block]);
      const std::int64_t rows = block == 0 ? 64 : 36;
      EXPECT_TRUE(std::equal(mine, mine + rows * code_bytes, theirs));
      const std::int8_t* const scales = mine + 64 * code_bytes;
      EXPECT_TRUE(std::equal(scales, scales + rows * scale_bytes, theirs + 64 * code_bytes));
    }
  }
}

KvShape half_shape() {
  KvShape shape = small_shape();
  shape.storage = KvStorage::kHalf;
  return shape;
}

TEST(KvCache, SixteenBitsTakeHalfOfThirtyTwo) {
  testing::AllocationProbe probe;
  KvCache cache(half_shape());
  append(cache, LayerId(1), 0, 65);
  EXPECT_EQ(cache.shape().slot_bytes(), small_shape().slot_bytes() / 2);
  EXPECT_EQ(cache.bytes_in_use(), 65 * 3 * 16);
  EXPECT_EQ(cache.bytes_allocated(), 2 * 64 * 3 * 16);
  EXPECT_EQ(probe.live_bytes(), cache.bytes_allocated());
  EXPECT_EQ(cache.shape().token_bytes(), 2 * 3 * 16);
}

TEST(KvCache, SixteenBitsAreRoundedToTheNearestAndEvenAndReadExactly) {
  // 10 bits of fraction: the steps are 1/512 from 2 on, 2 from 2,048 on; below 2^-14 they stay 2^-24.
  const float step = 1.0F / 512.0F;
  const at::Tensor given = at::tensor({2.0F + 0.5F * step, 2.0F + 1.5F * step, -2049.0F, 65504.0F, 2051.0F, 3e-8F, 1e-8F, -0.1F});
  const at::Tensor kept = at::tensor({2.0F, 2.0F + 2.0F * step, -2048.0F, 65504.0F, 2052.0F, 5.9604645e-8F, 0.0F, -0.0999755859375F});
  const std::vector<std::uint16_t> bits = {0x4000, 0x4002, 0xE800, 0x7BFF, 0x6802, 0x0001, 0x0000, 0xAE66};
  KvShape shape = half_shape();
  shape.head_dim = 8;
  KvCache cache(shape);
  const at::Tensor rows = given.view({1, 1, 8}).expand({3, 1, 8});
  const std::vector<std::int32_t> original = {7};
  cache.append(LayerId(0), rows, -rows, original);
  const auto* stored = static_cast<const std::uint16_t*>(cache.key_blocks(LayerId(0), KvHead(2))[0]);
  EXPECT_TRUE(std::equal(bits.begin(), bits.end(), stored));
  const at::Tensor read = cache.gather_keys(LayerId(0), KvHead(2));
  EXPECT_EQ(read.scalar_type(), at::kFloat);
  EXPECT_TRUE(at::equal(read[0], kept));
  EXPECT_TRUE(at::equal(cache.gather_values(LayerId(0), KvHead(1))[0], -kept));
  cache.write(LayerId(0), KvHead(2), 0, at::zeros({1, 8}), given.unsqueeze(0));
  EXPECT_TRUE(at::equal(cache.gather_values(LayerId(0), KvHead(2))[0], kept)) << "written one by one";
  EXPECT_TRUE(at::equal(cache.gather_keys(LayerId(0), KvHead(1))[0], kept)) << "the other heads keep theirs";
  at::Tensor rounded = given.view({1, 1, 8}).clone();
  round_as_stored(rounded, KvStorage::kHalf);
  EXPECT_TRUE(at::equal(rounded.flatten(), kept)) << "what a prefill attends to is what is stored";
}

TEST(KvCache, WhatSixteenBitsDoNotReachIsAnErrorAndChangesNothing) {
  KvCache cache(half_shape());
  append(cache, LayerId(0), 0, 5);
  const std::vector<std::int32_t> original = {5};
  const at::Tensor fits = at::full({3, 1, 4}, 65519.0F);  // rounds to 65,504
  at::Tensor beyond = fits.clone();
  beyond[2][0][3] = -65520.0F;
  EXPECT_EQ(code_of([&] { cache.append(LayerId(0), fits, beyond, original); }), ErrorCode::kNumericFailure);
  EXPECT_EQ(code_of([&] { cache.write(LayerId(0), KvHead(0), 0, beyond[2], fits[0]); }), ErrorCode::kNumericFailure);
  EXPECT_EQ(code_of([&] { round_as_stored(beyond, KvStorage::kHalf); }), ErrorCode::kNumericFailure);
  EXPECT_EQ(cache.slots(LayerId(0), KvHead(0)), 5);
  EXPECT_EQ(first_column(cache.gather_keys(LayerId(0), KvHead(0))), (std::vector<float>{0, 1, 2, 3, 4}));
  cache.append(LayerId(0), fits, fits, original);
  EXPECT_EQ(first_column(cache.gather_keys(LayerId(0), KvHead(0))).back(), 65504.0F);
  // What was no number before is not what rounding did: it shows in what the model computes.
  const at::Tensor broken = at::full({3, 1, 4}, std::numeric_limits<float>::quiet_NaN());
  cache.append(LayerId(0), broken, broken, original);
  EXPECT_TRUE(cache.gather_keys(LayerId(0), KvHead(0)).isnan().any().item<bool>());
}

TEST(KvCache, SixteenBitsAreForArithmeticInThirtyTwo) {
  KvShape shape = half_shape();
  shape.dtype = at::kBFloat16;
  EXPECT_EQ(code_of([&] { KvCache cache(shape); }), ErrorCode::kInternal);
}

TEST(KvCache, SixteenBitsThatWereReadAreStoredAgainAsTheyWere) {
  at::manual_seed(3);
  KvCache cache(half_shape());
  std::vector<std::int32_t> original(100);
  std::iota(original.begin(), original.end(), 0);
  cache.append(LayerId(0), at::randn({3, 100, 4}), at::randn({3, 100, 4}), original);
  KvCache copy = cache.fork();
  copy.assign(LayerId(0), KvHead(0), cache.gather_keys(LayerId(0), KvHead(0)), cache.gather_values(LayerId(0), KvHead(0)), original);
  for (std::size_t block = 0; block < 2; ++block) {
    const auto* mine = static_cast<const std::uint16_t*>(copy.value_blocks(LayerId(0), KvHead(0))[block]);
    const auto* theirs = static_cast<const std::uint16_t*>(cache.value_blocks(LayerId(0), KvHead(0))[block]);
    ASSERT_NE(mine, theirs);
    EXPECT_TRUE(std::equal(mine, mine + (block == 0 ? 64 : 36) * 4, theirs));
  }
}

TEST(KvCache, CachesOfTwoStoragesAreCountedAsTheyAre) {
  KvCache wide(small_shape());
  KvCache narrow(narrow_shape());
  append(wide, LayerId(0), 0, 10);
  append(narrow, LayerId(0), 0, 10);
  const KvCache copy = narrow.fork();
  const KvCache* caches[] = {&narrow, &wide, &copy};
  EXPECT_EQ(bytes_allocated_together(caches), 3 * 64 * (32 + 16));
}

TEST(KvCache, RefusesWrongShapesAndPlans) {
  KvCache cache(small_shape());
  append(cache, LayerId(0), 0, 5);
  const std::vector<std::int32_t> two = {0, 1};
  EXPECT_EQ(code_of([&] { cache.append(LayerId(0), at::zeros({3, 1, 4}), at::zeros({3, 1, 4}), two); }), ErrorCode::kInternal);
  EXPECT_EQ(code_of([&] {
              cache.append(LayerId(0), at::zeros({3, 2, 4}, at::kHalf), at::zeros({3, 2, 4}, at::kHalf), two);
            }),
            ErrorCode::kInternal);
  EXPECT_EQ(code_of([&] { cache.append(LayerId(2), at::zeros({3, 2, 4}), at::zeros({3, 2, 4}), two); }), ErrorCode::kInternal);
  const auto compact = [&](std::vector<std::vector<std::int32_t>> kept, std::int64_t segment) {
    LayerPlan plan{.kept = std::move(kept)};
    return code_of([&] { cache.compact(LayerId(0), segment, plan); });
  };
  EXPECT_EQ(compact({{0}, {0}}, 5), ErrorCode::kInternal);
  EXPECT_EQ(compact({{0}, {0}, {1, 1}}, 5), ErrorCode::kInternal);
  EXPECT_EQ(compact({{0}, {0}, {5}}, 5), ErrorCode::kInternal);
  EXPECT_EQ(compact({{0}, {0}, {0}}, 6), ErrorCode::kInternal);
  EXPECT_EQ(code_of([&] { cache.evict(LayerId(0), KvHead(0), 5); }), ErrorCode::kInternal);
  EXPECT_EQ(cache.slots(LayerId(0), KvHead(0)), 5);  // a refused plan changes nothing
}

}  // namespace
}  // namespace winnow
