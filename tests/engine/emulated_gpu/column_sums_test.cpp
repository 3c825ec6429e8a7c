// Column statistics on a GPU: those of the CPU, with a kernel of our own that does not become more launches where there are more rows, and
// without a wait of the host until the results are fetched.
#include "engine/compression/statistics/attention_statistics.h"

#include <vector>

#include "tests/engine/emulated_gpu/layer_there.h"

namespace winnow::testing {
namespace {

class ColumnSumsOnEmulatedGpu : public OnEmulatedGpu {
 protected:
  // Everything that the kernel gives.
  static StatisticsNeed everything(std::int64_t window) {
    return {.rows = {.window = window}, .column_sums = true, .column_squares = true, .head_variance = true, .row_entropy = true};
  }

  static RowStatistics statistics(const LayerView& view, const StatisticsNeed& need) {
    const std::vector<Modality> modality(static_cast<std::size_t>(view.query.size(1)), Modality::kText);
    return attention_statistics(view, segment_of(modality, 1, 6, 2), need);
  }

  EmulatedGpuCounts cost(std::int64_t rows, const std::vector<std::int64_t>& past, at::ScalarType type = at::kFloat) const {
    const LayerView view = there(layer_of(type, rows, past));
    return cost_of([&] { statistics(view, everything(rows)); });
  }

  c10::InferenceMode inference_;
};

void expect_near(const std::vector<float>& gpu, const std::vector<float>& cpu) {
  ASSERT_EQ(gpu.size(), cpu.size());
  for (std::size_t i = 0; i < cpu.size(); ++i) ASSERT_NEAR(gpu[i], cpu[i], 1e-4) << i;
}

TEST_F(ColumnSumsOnEmulatedGpu, AreThoseOfTheCpu) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const std::vector<std::int64_t>& past : {std::vector<std::int64_t>{}, {70, 5}, {0, 3}}) {
      for (const std::int64_t window : {150, 20}) {
        SCOPED_TRACE(::testing::Message() << at::toString(type) << " window " << window << " past " << past.size());
        const LayerView view = layer_of(type, 150, past);
        const RowStatistics cpu = statistics(view, everything(window));
        const RowStatistics gpu = statistics(there(view), everything(window));
        expect_near(gpu.column_sums.values, cpu.column_sums.values);
        expect_near(gpu.column_squares.values, cpu.column_squares.values);
        ASSERT_EQ(gpu.past_sums.size(), past.size());
        for (std::size_t head = 0; head < past.size(); ++head) {
          expect_near(gpu.past_sums[head], cpu.past_sums[head]);
          expect_near(gpu.past_squares[head], cpu.past_squares[head]);
        }
        for (std::size_t head = 0; head < cpu.head_variance.size(); ++head) {
          EXPECT_NEAR(gpu.head_variance[head], cpu.head_variance[head], 1e-4) << head;
        }
        EXPECT_NEAR(gpu.row_entropy, cpu.row_entropy, 1e-4);
      }
    }
  }
}

TEST_F(ColumnSumsOnEmulatedGpu, AreAsManyLaunchesForManyRowsAsForFew) {
  const EmulatedGpuCounts few = cost(20, {});
  const EmulatedGpuCounts many = cost(700, {});
  EXPECT_EQ(many.launches, few.launches);
  EXPECT_EQ(many.waits, few.waits);
  EXPECT_LE(many.launches, 16) << "two of the sums; zeros, means and variances beside them";
  EXPECT_EQ(many.waits, 1) << "for sums, squares, variances and the entropy";
  EXPECT_GT(cost(700, {}, at::kDouble).launches, 10 * many.launches) << "a type without a kernel goes in tiles";
  const EmulatedGpuCounts behind = cost(700, {300, 20});
  EXPECT_EQ(behind.launches, cost(700, {20, 300}).launches);
  EXPECT_LE(behind.launches - many.launches, 2 * 8) << "of every head with retained slots";
  EXPECT_EQ(behind.waits, 1) << "for two heads' sums and squares, too";
}

}  // namespace
}  // namespace winnow::testing
