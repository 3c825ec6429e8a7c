// Caches in eight bits that store keys without their bias: rows by hand, and every way in which rows move.
#include "engine/kv_cache/key_bias.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <numeric>
#include <random>

#include "tests/engine/kv_cache/biased_shape.h"

namespace winnow {
namespace {

using testing::biased_shape;
using testing::slow_bias;
using testing::with_bias;

constexpr std::int64_t kBiasedHeads = 2;
constexpr std::int64_t kBiasedDim = 8;

std::vector<std::int32_t> counted(std::int64_t first, std::int64_t count) {
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), static_cast<std::int32_t>(first));
  return numbers;
}

at::Tensor positions_of(std::int64_t first, std::int64_t count) { return at::arange(first, first + count, at::kLong).unsqueeze(0); }

// Keys [kv_heads, t, head_dim] as they read after they are appended to a layer.
at::Tensor as_read(const KvShape& shape, LayerId layer, const at::Tensor& keys, const at::Tensor& positions) {
  KvCache cache(shape);
  cache.append(layer, keys, keys, counted(0, keys.size(1)), positions);
  std::vector<at::Tensor> read;
  for (KvHead head{0}; head < shape.kv_heads; ++head) read.push_back(cache.gather_keys(layer, head));
  return at::stack(read);
}

// One pair that a position turns by a right angle: b = (300, 0) is (0, 300) at position 1. The key (127, 340) is that and (127, 40).
TEST(KeyBias, IsTakenFromARowAndAddedAgain) {
  KvShape shape = biased_shape(1, at::tensor({300.0F, 0.0F}).unsqueeze(0), 1.0);
  KeyBias bias = *shape.key_bias;
  bias.frequencies = at::tensor({1.57079632679F});
  shape.key_bias = std::make_shared<const KeyBias>(bias);
  KvCache cache(shape);
  const at::Tensor key = at::tensor({127.0F, 340.0F}).view({1, 1, 2});
  const std::vector<std::int32_t> original = {5};
  cache.append(LayerId(0), key, at::tensor({1.0F, 2.0F}).view({1, 1, 2}), original, at::ones({1, 1}, at::kLong));
  EXPECT_TRUE(at::allclose(cache.gather_keys(LayerId(0), KvHead(0)), key[0], 0.0, 1e-3));
  EXPECT_TRUE(at::allclose(cache.row_views(LayerId(0), KvHead(0), 0).first, key[0][0], 0.0, 1e-3));
  EXPECT_TRUE(at::allclose(cache.block_view(LayerId(0), KvHead(0), KvPart::kKeys, 0), key[0], 0.0, 1e-3));
  const SlotRows stored = StoredSlots::read(cache, LayerId(0), KvHead(0));
  EXPECT_TRUE(at::equal(stored.keys[0], at::tensor({127.0F, 40.0F}))) << stored.keys;
  EXPECT_EQ(stored.positions.item<std::int64_t>(), 1);
}

// Without its position, or where the bias takes nothing from it, a key is stored with its bias.
TEST(KeyBias, StaysWithAKeyThatGainsNothing) {
  const KvShape shape = biased_shape(1, slow_bias(kBiasedHeads, kBiasedDim));
  KvCache cache(shape);
  const at::Tensor plain = at::ones({kBiasedHeads, 1, kBiasedDim});  // a key that has lost its bias, as merging could make it
  const at::Tensor biased = with_bias(plain, *shape.key_bias, positions_of(3, 1));
  cache.append(LayerId(0), plain, plain, counted(0, 1), positions_of(3, 1));
  cache.append(LayerId(0), biased, plain, counted(1, 1));
  cache.append(LayerId(0), biased, plain, counted(2, 1), positions_of(3, 1));
  cache.append(LayerId(0), biased, plain, counted(3, 1), at::full({1, 1}, -7, at::kLong));
  EXPECT_TRUE(at::equal(StoredSlots::read(cache, LayerId(0), KvHead(1)).positions, at::tensor({-1, -1, 3, -1}, at::kLong).unsqueeze(0)));
  EXPECT_TRUE(at::allclose(cache.gather_keys(LayerId(0), KvHead(1), 1), plain[1], 0.0, 1e-3));
}

TEST(KeyBias, RoundsAKeyAsIfItHadNone) {
  at::manual_seed(5);
  const KvShape shape = biased_shape(2, slow_bias(kBiasedHeads, kBiasedDim));
  KvCache cache(shape);
  const at::Tensor keys = at::randn({kBiasedHeads, 150, kBiasedDim});
  const at::Tensor positions = positions_of(40, 150);
  const at::Tensor biased = with_bias(keys, *shape.key_bias, positions);
  cache.append(LayerId(1), biased, at::randn({kBiasedHeads, 150, kBiasedDim}), counted(0, 150), positions);
  for (KvHead head{0}; head < kBiasedHeads; ++head) {
    const at::Tensor off = (cache.gather_keys(LayerId(1), head) - biased[head]).abs();
    EXPECT_LT(off.max().item<double>(), 0.6 * keys.abs().max().item<double>() / 127.0) << "with one scale for the bias it is 1.2";
  }
  EXPECT_EQ(cache.bytes_in_use(), kBiasedHeads * 150 * 2 * (kBiasedDim + 4)) << "rows take what they took";
  EXPECT_EQ(cache.bytes_metadata() - kBiasedHeads * 150 * 2 * 4, 151 * (kBiasedDim * 4 + 8))
      << "and every position one row, whatever reads it";
}

// Whatever moves rows moves what is known of their bias; forks do not see each other's.
TEST(KeyBias, FollowsItsRowWhereverItGoes) {
  const KvShape shape = biased_shape(1, slow_bias(kBiasedHeads, kBiasedDim));
  for (unsigned seed = 1; seed <= 10; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](std::int64_t low, std::int64_t high) { return std::uniform_int_distribution<std::int64_t>(low, high)(random); };
    at::manual_seed(seed);
    std::map<std::int32_t, at::Tensor> written;  // [kv_heads, head_dim] as read, by original index
    std::int64_t next = 0;
    std::vector<KvCache> caches;
    caches.emplace_back(shape);
    for (int step = 0; step < 60; ++step) {
      KvCache& cache = caches[static_cast<std::size_t>(pick(0, std::ssize(caches) - 1))];
      const KvHead head{pick(0, kBiasedHeads - 1)};
      const std::int64_t slots = cache.slots(LayerId(0), head);
      const std::int64_t action = pick(0, 5);
      if (action == 0 && slots > 0) {
        cache.evict(LayerId(0), head, pick(0, slots - 1));
      } else if (action == 1) {
        LayerPlan plan;
        for (KvHead each{0}; each < kBiasedHeads; ++each) {
          std::vector<std::int32_t>& kept = plan.kept.emplace_back();
          for (std::int32_t slot = 0; slot < cache.slots(LayerId(0), each); ++slot) {
            if (pick(0, 2) > 0) kept.push_back(slot);
          }
        }
        cache.compact_all(LayerId(0), plan);
      } else if (action == 2 && caches.size() < 3) {
        KvCache copy = cache.fork();
        caches.push_back(std::move(copy));
      } else if (action == 3) {
        // Slots in another order, as take_retained() puts them.
        SlotRows rows = StoredSlots::read(cache, LayerId(0), head);
        const auto original = cache.original(LayerId(0), head);
        const std::vector<std::int32_t> reversed(original.rbegin(), original.rend());
        rows = {rows.keys.flip({0}), rows.values.flip({0}), rows.positions.flip({1})};
        cache.assign(LayerId(0), head, rows.keys, rows.values, reversed);
        StoredSlots::write(cache, LayerId(0), head, 0, rows);
      } else {
        const std::int64_t count = pick(0, 3) == 0 ? pick(1, 100) : 1;
        const at::Tensor positions = positions_of(3 * next, count);
        const at::Tensor keys = with_bias(at::randn({kBiasedHeads, count, kBiasedDim}), *shape.key_bias, positions);
        cache.append(LayerId(0), keys, keys, counted(next, count), positions);
        const at::Tensor read = as_read(shape, LayerId(0), keys, positions);
        for (std::int64_t i = 0; i < count; ++i) written[static_cast<std::int32_t>(next + i)] = read.select(1, i);
        next += count;
      }
      for (const KvCache& each : caches) {
        for (KvHead of{0}; of < kBiasedHeads; ++of) {
          const at::Tensor keys = each.gather_keys(LayerId(0), of);
          const auto original = each.original(LayerId(0), of);
          for (std::size_t slot = 0; slot < original.size(); ++slot) {
            ASSERT_TRUE(at::equal(keys[static_cast<std::int64_t>(slot)], written.at(original[slot])[of]))
                << "seed " << seed << " step " << step;
          }
        }
      }
    }
  }
}

// A merge writes keys with their bias, most of them as they were read.
TEST(KeyBias, IsTakenFromMergedKeysToo) {
  at::manual_seed(8);
  const KvShape shape = biased_shape(1, slow_bias(kBiasedHeads, kBiasedDim));
  KvCache cache(shape);
  const at::Tensor positions = positions_of(0, 70);
  const at::Tensor keys = at::randn({kBiasedHeads, 70, kBiasedDim});
  cache.append(LayerId(0), with_bias(keys, *shape.key_bias, positions), keys, counted(0, 70), positions);
  const KvCache before = cache.fork();
  const std::vector<std::int64_t> counts(kBiasedHeads, 70);
  std::vector<SlotRows> rows = WholeLayer::last(cache, LayerId(0), counts);
  const at::Tensor mean = (rows[0].keys[3] + rows[0].keys[4]) / 2.0;
  rows[0].keys[3].copy_(mean);
  WholeLayer::write_last(cache, LayerId(0), rows);
  const at::Tensor read = cache.gather_keys(LayerId(0), KvHead(0));
  EXPECT_LT((read[3] - mean).abs().max().item<double>(), 0.02);
  const at::Tensor others = before.gather_keys(LayerId(0), KvHead(0));
  EXPECT_LT((read.narrow(0, 4, 66) - others.narrow(0, 4, 66)).abs().max().item<double>(), 1e-3) << "a hundredth of a step";
}

// Three axes, of which each pair takes its own, and a length that queries and keys are given.
TEST(KeyBias, IsRotatedByTheAxisOfEveryPair) {
  KeyBias bias;
  bias.of_layers.push_back(at::tensor({1.0F, 2.0F, 0.0F, 0.0F}).unsqueeze(0));
  bias.rotary.theta = 1.0;
  bias.rotary.frequency_axis = {2, 0};
  bias.rotary.magnitude = 2.0;
  bias.frequencies = at::tensor({1.57079632679F, 0.0F});
  KeyRotations rotations(std::make_shared<const KeyBias>(bias));
  const at::Tensor positions = at::tensor({7, 7, 1, 7, 0, 0, 2, 0, 1, 1, 0, 1}, at::kLong).view({3, 4});
  const std::vector<std::int32_t> rows = rotations.at(positions);
  EXPECT_EQ(rows, (std::vector<std::int32_t>{1, 1, 2, 1}));
  EXPECT_TRUE(at::equal(rotations.positions(rows), positions));
  float offsets[12];
  const std::vector<std::int32_t> asked = {1, KeyRotations::kNone, 2};
  rotations.offsets(bias.of(LayerId(0)).const_data_ptr<float>(), asked, offsets);
  const float expected[] = {0, 4, 2, 0, 0, 0, 0, 0, 2, 4, 0, 0};
  for (int i = 0; i < 12; ++i) EXPECT_NEAR(offsets[i], expected[i], 1e-5F) << i;
}

// Units of 8 pairs: of the first head the second has one of length 5, of the other the first one of 4 + 1/16 in its second element.
TEST(KeyBias, IsTakenWhereItIsStrong) {
  at::Tensor bias = at::full({2, 24}, 2.0);  // pairs of length 2.83
  bias[0][9] = 3.0;
  bias[0][12 + 9] = -4.0;
  bias[1][0] = 0.0;
  bias[1][12] = 4.0625;
  const at::Tensor strong = strong_bias(bias);
  at::Tensor taken = at::zeros({2, 24});
  for (const std::int64_t half : {0, 12}) {
    taken[0].narrow(0, half + 8, 4).fill_(1.0);
    taken[1].narrow(0, half, 8).fill_(1.0);
  }
  EXPECT_TRUE(at::equal(strong, bias * taken)) << strong;
  EXPECT_TRUE(at::equal(strong_bias(at::full({2, 7, 2}, 2.0).view({7, 4})), at::zeros({7, 4})));
}

// In sixteen and thirty-two bits nothing is taken away: the memory is what it is without a bias, byte for byte.
TEST(KeyBias, ChangesNoByteOfOtherCaches) {
  at::manual_seed(9);
  const at::Tensor keys = at::randn({kBiasedHeads, 100, kBiasedDim}) + 300.0;
  const at::Tensor values = at::randn({kBiasedHeads, 100, kBiasedDim});
  for (const KvStorage storage : {KvStorage::kWide, KvStorage::kHalf}) {
    KvShape shape = biased_shape(1, slow_bias(kBiasedHeads, kBiasedDim));
    shape.storage = storage;
    KvCache with(shape);
    shape.key_bias = nullptr;
    KvCache without(shape);
    for (KvCache* const cache : {&with, &without}) cache->append(LayerId(0), keys, values, counted(0, 100), positions_of(0, 100));
    EXPECT_FALSE(with.shape().takes_bias(LayerId(0)));
    EXPECT_EQ(with.bytes_metadata(), without.bytes_metadata());
    EXPECT_TRUE(at::equal(with.gather_keys(LayerId(0), KvHead(1)), without.gather_keys(LayerId(0), KvHead(1))));
    const std::size_t row_bytes = static_cast<std::size_t>(shape.slot_bytes() / 2);
    for (std::size_t block = 0; block < 2; ++block) {
      EXPECT_EQ(std::memcmp(with.key_blocks(LayerId(0), KvHead(0))[block], without.key_blocks(LayerId(0), KvHead(0))[block],
                            (block == 0 ? 64 : 36) * row_bytes),
                0);
    }
  }
}

}  // namespace
}  // namespace winnow
