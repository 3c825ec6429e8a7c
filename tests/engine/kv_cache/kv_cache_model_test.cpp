// Random operation sequences on KvCache against plain vectors of token numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "engine/kv_cache/kv_cache.h"
#include "engine/kv_cache/narrow_rows.h"
#include "tests/support/kv_shape.h"

namespace winnow {
namespace {

constexpr std::int64_t kLayers = 2;
constexpr std::int64_t kHeads = 2;
constexpr std::int64_t kDim = 8;

// K of a token is stamp + column, V is stamp * 2; the stamp (unique per append) tells apart tokens with equal numbers in two forks.
struct Entry {
  std::int32_t original;
  float stamp;
};

struct Pair {
  KvCache cache;
  std::vector<std::vector<Entry>> model;  // [layers * heads]
};

std::vector<Entry>& entries(Pair& pair, LayerId layer, KvHead head) { return pair.model[static_cast<std::size_t>(layer * kHeads + head)]; }

class KvCacheModel : public ::testing::TestWithParam<std::tuple<KvStorage, unsigned>> {
 protected:
  std::int64_t pick(std::int64_t low, std::int64_t high) { return std::uniform_int_distribution<std::int64_t>(low, high)(random_); }

  void append(Pair& pair, LayerId layer) {
    const std::int64_t count = pick(0, 3) == 0 ? pick(0, 150) : 1;
    std::vector<std::int32_t> original;
    at::Tensor keys = at::zeros({kHeads, count, kDim});
    for (std::int64_t i = 0; i < count; ++i) {
      original.push_back(next_original_++);
      for (KvHead head{0}; head < kHeads; ++head) {
        const float stamp = ++stamp_;
        keys[head][i] = at::arange(kDim, at::kFloat) + stamp;
        entries(pair, layer, head).push_back({original.back(), stamp});
      }
    }
    cache_append(pair.cache, layer, keys, original);
  }

  static void cache_append(KvCache& cache, LayerId layer, const at::Tensor& keys, const std::vector<std::int32_t>& original) {
    cache.append(layer, keys, keys * 2, original);
  }

  void compact(Pair& pair, LayerId layer) {
    const std::int64_t most = std::min(pair.cache.slots(layer, KvHead(0)), pair.cache.slots(layer, KvHead(1)));
    const std::int64_t segment = pick(0, most);
    const std::int64_t keep_in_ten = pick(0, 10);
    LayerPlan plan;
    for (KvHead head{0}; head < kHeads; ++head) {
      std::vector<std::int32_t> kept;
      for (std::int64_t i = 0; i < segment; ++i) {
        if (pick(0, 9) < keep_in_ten) kept.push_back(static_cast<std::int32_t>(i));
      }
      auto& rows = entries(pair, layer, head);
      const std::size_t start = rows.size() - static_cast<std::size_t>(segment);
      std::vector<Entry> after(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(start));
      for (const std::int32_t i : kept) after.push_back(rows[start + static_cast<std::size_t>(i)]);
      rows = after;
      plan.kept.push_back(kept);
    }
    pair.cache.compact(layer, segment, plan);
  }

  void evict(Pair& pair, LayerId layer) {
    const KvHead head{pick(0, kHeads - 1)};
    auto& rows = entries(pair, layer, head);
    if (rows.empty()) return;
    const std::int64_t slot = pick(0, static_cast<std::int64_t>(rows.size()) - 1);
    rows[static_cast<std::size_t>(slot)] = rows.back();
    rows.pop_back();
    pair.cache.evict(layer, head, slot);
  }

  void check(Pair& pair) {
    std::int64_t slots = 0;
    std::int64_t blocks = 0;
    for (LayerId layer{0}; layer < kLayers; ++layer) {
      for (KvHead head{0}; head < kHeads; ++head) {
        const auto& rows = entries(pair, layer, head);
        const auto count = static_cast<std::int64_t>(rows.size());
        ASSERT_EQ(pair.cache.slots(layer, head), count);
        at::Tensor expected = at::empty({count, kDim});
        for (std::int64_t i = 0; i < count; ++i) {
          const Entry& entry = rows[static_cast<std::size_t>(i)];
          ASSERT_EQ(pair.cache.original(layer, head)[static_cast<std::size_t>(i)], entry.original);
          for (std::int64_t c = 0; c < kDim; ++c) expected.data_ptr<float>()[i * kDim + c] = entry.stamp + static_cast<float>(c);
        }
        const at::Tensor keys = as_stored(expected);
        const at::Tensor values = as_stored(expected * 2);
        ASSERT_TRUE(at::equal(pair.cache.gather_keys(layer, head), keys));
        ASSERT_TRUE(at::equal(pair.cache.gather_values(layer, head), values));
        if (count > 0) {
          const std::int64_t slot = pick(0, count - 1);
          const auto [key, value] = pair.cache.row_views(layer, head, slot);
          ASSERT_TRUE(at::equal(key, keys[slot]) && at::equal(value, values[slot]));
          const std::int64_t block = slot / KvCache::kBlockSlots;
          const at::Tensor seen = pair.cache.block_view(layer, head, KvPart::kValues, block);
          ASSERT_TRUE(at::equal(seen, values.narrow(0, block * KvCache::kBlockSlots, seen.size(0))));
        }
        slots += count;
        blocks += (count + KvCache::kBlockSlots - 1) / KvCache::kBlockSlots;
      }
    }
    const std::int64_t slot_bytes = std::map<KvStorage, std::int64_t>{
        {KvStorage::kWide, 2 * 4 * kDim},
        {KvStorage::kHalf, 2 * 2 * kDim},
        {KvStorage::kInt8, 2 * (kDim + 4)},
        {KvStorage::kInt4,
         2 * (kDim / 2 + 2)}}.at(storage());
    ASSERT_EQ(pair.cache.bytes_in_use(), slots * slot_bytes);
    ASSERT_EQ(pair.cache.bytes_metadata(), slots * 4);
    ASSERT_EQ(pair.cache.bytes_allocated(), blocks * KvCache::kBlockSlots * slot_bytes);
    ASSERT_GE(pair.cache.bytes_peak(), pair.cache.bytes_allocated());
  }

  static KvStorage storage() { return std::get<0>(GetParam()); }
  static at::Tensor as_stored(const at::Tensor& rows) {
    if (storage() == KvStorage::kHalf) return rows.to(at::kHalf).to(rows.scalar_type());
    if (storage() == KvStorage::kWide) return rows;
    const RowCodes form = storage() == KvStorage::kInt8 ? RowCodes::kInt8 : RowCodes::kInt4;
    return upcast(narrowed(rows, form), form, kDim, rows.scalar_type());
  }

  std::mt19937 random_{std::get<1>(GetParam())};
  std::int32_t next_original_ = 0;
  float stamp_ = 0.0F;
};

TEST_P(KvCacheModel, BehavesLikePlainVectors) {
  KvShape shape = test_support::kv_shape(kLayers, kHeads, kDim);
  shape.storage = storage();
  std::vector<Pair> pairs;
  pairs.push_back({KvCache(shape), std::vector<std::vector<Entry>>(kLayers * kHeads)});
  for (int step = 0; step < 120; ++step) {
    Pair& pair = pairs[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(pairs.size()) - 1))];
    const LayerId layer{pick(0, kLayers - 1)};
    switch (pick(0, 9)) {
      case 0:
      case 1: compact(pair, layer); break;
      case 2:
      case 3:
      case 4: evict(pair, layer); break;
      case 5:
        if (pairs.size() < 4) {
          Pair copy{pair.cache.fork(), pair.model};
          pairs.push_back(std::move(copy));
        } else {
          pairs.erase(pairs.begin());
        }
        break;
      default: append(pair, layer); break;
    }
    for (Pair& each : pairs) check(each);
    if (HasFatalFailure()) FAIL() << "seed " << std::get<1>(GetParam()) << ", step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Wide, KvCacheModel, ::testing::Combine(::testing::Values(KvStorage::kWide), ::testing::Range(1U, 21U)));
INSTANTIATE_TEST_SUITE_P(Int8, KvCacheModel, ::testing::Combine(::testing::Values(KvStorage::kInt8), ::testing::Range(1U, 9U)));
INSTANTIATE_TEST_SUITE_P(Int4, KvCacheModel, ::testing::Combine(::testing::Values(KvStorage::kInt4), ::testing::Range(1U, 9U)));
INSTANTIATE_TEST_SUITE_P(Half, KvCacheModel, ::testing::Combine(::testing::Values(KvStorage::kHalf), ::testing::Range(1U, 9U)));

}  // namespace
}  // namespace winnow
