// What leaves flows on a GPU where it flows on the CPU, by kernels of our own: no matrix of similarities, one wait for the pairs of all
// heads, none for their flows.
#include <algorithm>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "engine/compression/reducers/merge.h"
#include "engine/compression/reducers/shared_entries.h"
#include "engine/recipes/select.h"
#include "tests/engine/emulated_gpu/emulated_device.h"

namespace winnow::testing {
namespace {

using Rows = std::vector<std::int32_t>;

class MergingOnEmulatedGpu : public OnEmulatedGpu {
 protected:
  static constexpr std::int64_t kTokens = 700;
  static constexpr std::int64_t kHeadDim = 24;

  void SetUp() override {
    OnEmulatedGpu::SetUp();
    if (HasFatalFailure()) return;
    keys_ = at::randn({kTokens, kHeadDim});
    values_ = at::randn({kTokens, kHeadDim});
    keys_there_ = keys_.to(kEmulatedGpu);
    values_there_ = values_.to(kEmulatedGpu);
    std::mt19937 random(3);
    for (std::int32_t row = 0; row < kTokens; ++row) {
      if (random() % 4 == 0) kept_.push_back(row);
    }
    leaving_ = rows_outside(kTokens, kept_);
  }

  static std::vector<MergePair> nearest_of(const at::Tensor& keys, const Rows& kept, const Rows& leaving) {
    const LeavingRows head{keys, kept, leaving};
    return nearest_by_cosine({&head, 1}).front();
  }

  // Every leaving row flows into the row that stays with the same number, as far as there are, and on into the first.
  Merging some_flows() const {
    Merging merging;
    for (std::size_t i = 0; i < kept_.size(); i += 2) merging.scaled.push_back({kept_[i], {0.7, 1.0 + static_cast<double>(i % 5)}});
    for (std::size_t i = 0; i < leaving_.size(); ++i) {
      merging.flows.push_back({leaving_[i], kept_[i < kept_.size() ? i : 0], 0.1 + static_cast<double>(i % 7) / 10.0});
    }
    merging.flows[3].weight = 0.0;
    return merging;
  }

  void expect_same(const Merging& merging) const {
    const MergedSlots cpu = carry_out(merging, keys_, values_, kept_);
    const MergedSlots gpu = carry_out(merging, keys_there_, values_there_, kept_);
    EXPECT_EQ(gpu.merged, cpu.merged);
    EXPECT_LT((gpu.keys.to(at::kCPU) - cpu.keys).abs().max().item<double>(), 1e-5);
    EXPECT_LT((gpu.values.to(at::kCPU) - cpu.values).abs().max().item<double>(), 1e-5);
  }

  at::Tensor keys_, values_, keys_there_, values_there_;
  Rows kept_, leaving_;
  c10::InferenceMode inference_;
};

TEST_F(MergingOnEmulatedGpu, TheNearestAreThoseOfTheCpuInThreeLaunches) {
  keys_.select(0, kept_[9]).copy_(keys_.select(0, kept_[4]));  // of the same the first
  keys_.select(0, leaving_[7]).copy_(keys_.select(0, kept_[4]) * 2.0);
  keys_there_ = keys_.to(kEmulatedGpu);
  const std::vector<MergePair> cpu = nearest_of(keys_, kept_, leaving_);
  std::vector<MergePair> gpu;
  const EmulatedGpuCounts cost = cost_of([&] { gpu = nearest_of(keys_there_, kept_, leaving_); });
  ASSERT_EQ(gpu.size(), cpu.size());
  for (std::size_t i = 0; i < cpu.size(); ++i) {
    EXPECT_EQ(gpu[i].row, cpu[i].row);
    EXPECT_EQ(gpu[i].into, cpu[i].into) << i;
    EXPECT_NEAR(gpu[i].cosine, cpu[i].cosine, 1e-5);
  }
  EXPECT_EQ(gpu[7].into, kept_[4]);
  EXPECT_EQ(cost.launches, 3);
  EXPECT_EQ(cost.waits, 1);
  EXPECT_EQ(cost.copies_to_device, 1);
  EXPECT_EQ(cost.bytes_to_host, std::ssize(leaving_) * 8);
  EXPECT_TRUE(nearest_of(keys_there_, {}, leaving_).empty());
  EXPECT_TRUE(nearest_of(keys_there_, kept_, {}).empty());
}

// Whoever has no row that leaves, or none that stays, is passed over.
TEST_F(MergingOnEmulatedGpu, AllHeadsAreAskedByOneCopyAndAnsweredByOne) {
  const at::Tensor other = at::randn({kTokens, kHeadDim});
  const std::vector<LeavingRows> here = {{keys_, kept_, leaving_}, {other, {}, leaving_}, {other, leaving_, kept_}, {keys_, kept_, {}}};
  std::vector<LeavingRows> there = here;
  for (LeavingRows& head : there) head.keys = head.keys.to(kEmulatedGpu);
  const std::vector<std::vector<MergePair>> cpu = nearest_by_cosine(here);
  std::vector<std::vector<MergePair>> gpu;
  EmulatedGpuCounts cost = cost_of([&] { gpu = nearest_by_cosine(there); });
  EXPECT_EQ(cost.launches, 2 * 3);
  EXPECT_EQ(cost.waits, 1);
  EXPECT_EQ(cost.copies_to_device, 1);
  ASSERT_EQ(gpu.size(), cpu.size());
  for (std::size_t head = 0; head < cpu.size(); ++head) {
    ASSERT_EQ(gpu[head].size(), cpu[head].size()) << head;
    for (std::size_t i = 0; i < cpu[head].size(); ++i) {
      EXPECT_EQ(gpu[head][i].row, cpu[head][i].row);
      EXPECT_EQ(gpu[head][i].into, cpu[head][i].into) << head << " " << i;
      EXPECT_NEAR(gpu[head][i].cosine, cpu[head][i].cosine, 1e-5);
    }
  }

  const Merging some = some_flows();
  Merging of_values = some_flows();
  of_values.values_only = true;
  Merging goes_on = some_flows();
  goes_on.flows.push_back({kept_[5], kept_[6], 0.5});
  const std::vector<HeadFlows> flows = {
      {some, keys_, values_, kept_}, {of_values, keys_, values_, kept_}, {goes_on, keys_, values_, kept_}};
  const std::vector<HeadFlows> flows_there = {{some, keys_there_, values_there_, kept_},
                                              {of_values, keys_there_, values_there_, kept_},
                                              {goes_on, keys_there_, values_there_, kept_}};
  const std::vector<MergedSlots> merged = carry_out(flows);
  const std::vector<MergedSlots> merged_there = carry_out(flows_there);
  for (std::size_t head = 0; head < flows.size(); ++head) {
    EXPECT_EQ(merged_there[head].merged, merged[head].merged);
    EXPECT_LT((merged_there[head].keys.to(at::kCPU) - merged[head].keys).abs().max().item<double>(), 1e-5) << head;
    EXPECT_LT((merged_there[head].values.to(at::kCPU) - merged[head].values).abs().max().item<double>(), 1e-5) << head;
  }
  cost = cost_of([&] { carry_out(std::span(flows_there).first(2)); });
  EXPECT_EQ(cost.copies_to_device, 2) << "what flows, and the rows of keys that stay as they are";
  EXPECT_EQ(cost.waits, 0);
}

// As a cache of 16 bits stores them: the sums are fp32 all the same.
TEST_F(MergingOnEmulatedGpu, TheNearestOfStoredRowsAreThoseOfTheSameNumbers) {
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    const at::Tensor stored = keys_.to(type);
    const std::vector<MergePair> cpu = nearest_of(stored.to(at::kFloat), kept_, leaving_);
    const std::vector<MergePair> here = nearest_of(stored, kept_, leaving_);
    const std::vector<MergePair> gpu = nearest_of(stored.to(kEmulatedGpu), kept_, leaving_);
    ASSERT_EQ(here.size(), cpu.size());
    ASSERT_EQ(gpu.size(), cpu.size());
    for (std::size_t i = 0; i < cpu.size(); ++i) {
      EXPECT_EQ(here[i].into, cpu[i].into) << i;
      EXPECT_EQ(here[i].cosine, cpu[i].cosine) << i;
      EXPECT_EQ(gpu[i].into, cpu[i].into) << i;
      EXPECT_NEAR(gpu[i].cosine, cpu[i].cosine, 1e-5);
    }
  }
}

TEST_F(MergingOnEmulatedGpu, FlowsAreThoseOfTheCpu) {
  Merging merging = some_flows();
  expect_same(merging);
  const EmulatedGpuCounts cost = cost_of([&] { carry_out(merging, keys_there_, values_there_, kept_); });
  EXPECT_EQ(cost.launches, 2);
  EXPECT_EQ(cost.copies_to_device, 1);
  EXPECT_EQ(cost.waits, 0);
  merging.values_only = true;
  expect_same(merging);
  expect_same({});
  merging = some_flows();
  merging.flows.push_back({leaving_[0], leaving_[1], 0.5});  // it leaves, and flows before
  expect_same(merging);
  merging = some_flows();
  merging.scaled.push_back({leaving_[0], {3.0, 1.0}});  // what flows is scaled
  expect_same(merging);
  merging = some_flows();
  merging.flows.push_back({kept_[5], kept_[6], 0.5});  // what has received goes on
  expect_same(merging);
}

TEST_F(MergingOnEmulatedGpu, SlotsAreSharedAsOnTheCpu) {
  std::mt19937 random(5);
  std::vector<float> rank(kTokens);
  std::vector<float> weight(kTokens);
  for (float& number : rank) number = static_cast<float>(random() % 1000);
  for (float& number : weight) number = static_cast<float>(random() % 1000) - 100.0F;
  Rows centres(kept_.size() - 20);
  std::iota(centres.begin(), centres.end(), 0);
  SharingRule rule{.magnification = 3.0, .least_similarity = 0.1};
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    SCOPED_TRACE(at::toString(type));
    const at::Tensor keys = keys_.to(type);
    const at::Tensor values = values_.to(type);
    const at::Tensor keys_there = keys.to(kEmulatedGpu);
    const at::Tensor values_there = values.to(kEmulatedGpu);
    for (const Rows& shared : {centres, Rows{}}) {
      const SharedRows cpu = share_rows(rule, keys, values, kept_, shared, rank, weight);
      SharedRows gpu;
      const EmulatedGpuCounts cost = cost_of([&] { gpu = share_rows(rule, keys_there, values_there, kept_, shared, rank, weight); });
      EXPECT_EQ(gpu.row, cpu.row);
      EXPECT_EQ(gpu.target, cpu.target);
      ASSERT_EQ(gpu.norm.size(), cpu.norm.size());
      for (std::size_t i = 0; i < cpu.norm.size(); ++i) EXPECT_NEAR(gpu.norm[i], cpu.norm[i], 1e-5);
      ASSERT_EQ(gpu.directions.sizes(), cpu.directions.sizes());
      if (shared.empty()) continue;
      EXPECT_EQ(gpu.directions.scalar_type(), at::kFloat);
      EXPECT_LT((gpu.directions.to(at::kCPU) - cpu.directions).abs().max().item<double>(), 1e-5);
      EXPECT_LT((gpu.values.to(at::kCPU) - cpu.values).abs().max().item<double>(), 1e-5);
      EXPECT_LE(cost.waits, 2) << "for the pairs and the lengths";
      EXPECT_LE(cost.launches, type == at::kFloat ? 12 : 14) << "two more upcast stored rows";
    }
  }
}

}  // namespace
}  // namespace winnow::testing
