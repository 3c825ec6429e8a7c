// VL-Cache's sparsity on a GPU: the CPU's, with kernels of our own that do not become more launches where there are more rows.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/compression/statistics/attention_statistics.h"
#include "tests/engine/emulated_gpu/layer_there.h"

namespace winnow::testing {
namespace {

class RowSparsityOnEmulatedGpu : public OnEmulatedGpu {
 protected:
  // As VL-Cache asks for it.
  static StatisticsNeed sparsity(std::int64_t window, bool sums) {
    return {.rows = {.window = window}, .column_sums = sums, .sparsity_p = 0.05};
  }

  // without_query: of the view's rows, those that are keys alone.
  static RowStatistics statistics(const LayerView& view, const StatisticsNeed& need, std::int64_t without_query = 0) {
    const std::vector<Modality> modality(static_cast<std::size_t>(view.key.size(1)), Modality::kText);
    SegmentInfo segment = segment_of(modality, 1, 6, 2);
    segment.first_row = without_query;
    return attention_statistics(view, segment, need);
  }

  EmulatedGpuCounts cost(std::int64_t rows, const std::vector<std::int64_t>& past, at::ScalarType type = at::kFloat) const {
    const LayerView view = there(layer_of(type, rows, past));
    return cost_of([&] { statistics(view, sparsity(rows, false)); });
  }

  c10::InferenceMode inference_;
};

// A logit within rounding of its threshold may fall on either side.
void expect_same(const RowStatistics& gpu, const RowStatistics& cpu) {
  ASSERT_EQ(gpu.zero_counts.size(), cpu.zero_counts.size());
  for (std::size_t head = 0; head < cpu.zero_counts.size(); ++head) {
    EXPECT_GT(cpu.zero_counts[head], 10) << head;
    EXPECT_NEAR(static_cast<double>(gpu.zero_counts[head]), static_cast<double>(cpu.zero_counts[head]), 1.0) << head;
  }
  EXPECT_NEAR(gpu.sparsity, cpu.sparsity, 1e-3);
  ASSERT_EQ(gpu.column_sums.values.size(), cpu.column_sums.values.size());
  for (std::size_t i = 0; i < cpu.column_sums.values.size(); ++i) ASSERT_NEAR(gpu.column_sums.values[i], cpu.column_sums.values[i], 1e-4);
}

TEST_F(RowSparsityOnEmulatedGpu, IsThatOfTheCpu) {
  const std::vector<RowSpan> pictures = {{3, 20}, {40, 2}, {100, 45}};
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const std::vector<std::int64_t>& past : {std::vector<std::int64_t>{}, {70, 5}, {0, 3}}) {
      for (const std::vector<RowSpan>& together : {std::vector<RowSpan>{}, pictures}) {
        const LayerView view = layer_of(type, 150, past, together);
        for (const std::int64_t window : {150, 20}) {
          SCOPED_TRACE(::testing::Message() << at::toString(type) << " window " << window << " past " << past.size() << " spans "
                                            << together.size());
          for (const bool sums : {false, true}) {
            expect_same(statistics(there(view), sparsity(window, sums)), statistics(view, sparsity(window, sums)));
          }
        }
      }
    }
  }
}

TEST_F(RowSparsityOnEmulatedGpu, RetainedRowsAreKeysOfTheSegment) {
  LayerView view = layer_of(at::kFloat, 150, {}, {{60, 30}});
  view.query = view.query.narrow(1, 50, 100);
  view.log_sum_exp = view.log_sum_exp.narrow(1, 50, 100);
  for (const std::int64_t window : {100, 20}) {
    expect_same(statistics(there(view), sparsity(window, true), 50), statistics(view, sparsity(window, true), 50));
  }
}

// Retained slots of a head raise its rows' maxima, and are not counted.
TEST_F(RowSparsityOnEmulatedGpu, OfOnesBesideALargerRetainedSlotIsKnownByHand) {
  LayerView view = layer_of(at::kFloat, 10, {1, 1});
  view.query.fill_(1.0);
  view.key.fill_(1.0);
  view.past_keys[0].fill_(2.0);  // logits of 8 beside 4, of which e^-4 is below 0.05
  view.past_keys[1].fill_(1.0);
  const RowStatistics found = statistics(there(view), sparsity(4, false));
  const std::int64_t seen = 7 + 8 + 9 + 10;
  EXPECT_EQ(found.zero_counts, (std::vector<std::int64_t>{seen, seen, seen, 0, 0, 0}));
  EXPECT_DOUBLE_EQ(found.sparsity, 0.5);
}

TEST_F(RowSparsityOnEmulatedGpu, SaysWhenARowIsNotFinite) {
  for (const float damage : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    LayerView view = layer_of(at::kFloat, 10);
    view.query[0][9].fill_(damage);
    EXPECT_TRUE(std::isnan(statistics(view, sparsity(4, false)).sparsity)) << damage;
    EXPECT_TRUE(std::isnan(statistics(there(view), sparsity(4, false)).sparsity)) << damage;
    view.query[0][9].fill_(1.0F);
    view.query[0][3].fill_(damage);  // before the rows that are asked
    EXPECT_FALSE(std::isnan(statistics(there(view), sparsity(4, false)).sparsity)) << damage;
  }
}

TEST_F(RowSparsityOnEmulatedGpu, TakesAsManyLaunchesForManyRowsAsForFew) {
  const EmulatedGpuCounts few = cost(20, {});
  const EmulatedGpuCounts many = cost(700, {});
  EXPECT_EQ(many.launches, few.launches);
  EXPECT_EQ(many.waits, few.waits);
  EXPECT_LE(many.launches, 11)
      << "two of our own; where maxima and counts begin, whether maxima are finite, and their one copy beside them";
  EXPECT_EQ(many.waits, 1) << "for counts, and whether maxima are finite";
  EXPECT_GT(cost(700, {}, at::kDouble).launches, 10 * many.launches) << "a type without a kernel goes in tiles";
  EXPECT_EQ(cost(700, {300, 20}).launches, many.launches + 2 * 2) << "of every head with retained slots, and zeros that stay its sums";
}

}  // namespace
}  // namespace winnow::testing
