// Entropies over some columns against their reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <utility>
#include <vector>

#include "tests/kernels/cuda/runner.h"
#include "tests/kernels/cuda_cross_modal_case.h"
#include "tests/kernels/device_memory.h"

namespace winnow::kernels::testing {
namespace {

class CudaCrossModalEntropy : public testing::OnRunner {};

struct Asked {
  std::int64_t parts = 1;
  bool causal = false;
  bool mean_first = false;
};

// What is added to the entropy that was there.
double entropy_of(const CudaCrossModalCase& problem, const Asked& asked) {
  const DeviceMemory query(problem.numbers.query);
  const DeviceMemory key(problem.numbers.key);
  const DeviceMemory row_of(problem.row_of);
  const DeviceMemory column_of(problem.column_of);
  const DeviceMemory seen(problem.seen);
  const DeviceMemory entropy(std::vector<double>{CudaCrossModalCase::kBegun});
  CudaCrossModalArgs args = problem.args({query.bytes(), key.bytes(), row_of.as<std::int32_t>(), column_of.as<std::int32_t>(),
                                          asked.causal ? seen.as<std::int32_t>() : nullptr, entropy.as<double>(), nullptr},
                                         asked.parts, asked.mean_first);
  const DeviceMemory workspace(std::vector<std::byte>(static_cast<std::size_t>(cuda_cross_modal_workspace(args)), std::byte{0x7F}));
  args.workspace = workspace.bytes();
  EXPECT_EQ(cuda_cross_modal_entropy(args, nullptr), LaunchStatus::kOk);
  return entropy.copy<double>().front();
}

void expect_entropy(const CudaColumnsCase::Shape& shape, std::initializer_list<Asked> questions) {
  const CudaCrossModalCase problem(shape);
  for (const Asked& asked : questions) {
    SCOPED_TRACE(::testing::Message() << shape.name() << " parts " << asked.parts << (asked.mean_first ? " mean first" : "")
                                      << (asked.causal ? " causal" : ""));
    problem.expect_near(entropy_of(problem, asked), asked.causal, asked.mean_first);
  }
}
void expect_entropy(const CudaColumnsCase::Shape& shape, std::int64_t parts) {
  expect_entropy(shape, {Asked{parts, false, true}, {parts, true, false}});
}

TEST_F(CudaCrossModalEntropy, EqualsTheReferenceForEveryTypeAndHeadSize) {
  for (const ElementType type : testing::kEveryElementType) {
    for (const std::int64_t head_dim : {1, 18, 64, 80, 512}) {
      for (const std::int64_t room : {8, 5}) {
        if (room == 5 && head_dim > 18) continue;  // what is not aligned is read one by one, whatever the size
        expect_entropy({type, head_dim, 1, 2, 20, 110, 1, room}, 1);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(CudaCrossModalEntropy, EqualsTheReferenceForEverySizeAndGroup) {
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {200, 200}, {193, 3}, {4, 400}}) {
    for (std::int64_t group = 1; group <= (rows == 200 ? 3 : 2); ++group) {
      const bool even = group % 2 == 0;
      expect_entropy({even ? ElementType::kBf16 : ElementType::kFp32, 24, 2, group, rows, columns, 1}, even ? 3 : 1);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(CudaCrossModalEntropy, OnACardEqualsTheReferenceOverTheGrid) {
  constexpr std::array<std::int64_t, 2> kHeads[] = {{1, 1}, {18, 3}, {64, 8}, {72, 1}, {80, 1}, {96, 1}, {128, 2}, {256, 1}, {512, 1}};
  if (!testing::runs_on_card()) GTEST_SKIP() << "too much for fibers";
  const std::initializer_list<Asked> questions = {{1, false, false}, {1, false, true}, {3, true, false}, {3, true, true}};
  for (const ElementType type : testing::kEveryElementType) {
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {130, 140}, {193, 3}, {4, 400}}) {
      for (const auto& [head_dim, group] : kHeads) {
        expect_entropy({type, head_dim, 2, group, rows, columns, 1}, questions);
        if (HasFatalFailure()) return;
      }
    }
    expect_entropy({type, 18, 2, 3, 600, 300, 1}, questions);
    if (HasFatalFailure()) return;
  }
}

TEST_F(CudaCrossModalEntropy, TakesAsManyQueryHeadsAsAllowed) { expect_entropy({ElementType::kFp32, 8, 1, kMaxGroup, 7, 5, 1}, 1); }

TEST_F(CudaCrossModalEntropy, OfTheSameInputsIsTheSameBits) {
  const CudaCrossModalCase problem(testing::runs_on_card() ? CudaColumnsCase::Shape{ElementType::kBf16, 128, 2, 7, 300, 400, 1}
                                                           : CudaColumnsCase::Shape{ElementType::kBf16, 32, 2, 2, 90, 100, 1});
  for (const bool mean_first : {false, true}) {
    EXPECT_EQ(entropy_of(problem, {5, false, mean_first}), entropy_of(problem, {5, false, mean_first})) << mean_first;
  }
}

// Keys of zeros: every row looks at all of its columns alike.
TEST_F(CudaCrossModalEntropy, OfEvenAttentionIsKnownByHand) {
  CudaCrossModalCase problem({ElementType::kFp16, 16, 2, 3, 100, 300, 1});
  std::fill(problem.numbers.key.begin(), problem.numbers.key.end(), std::byte{0});
  for (const bool mean_first : {false, true}) {
    EXPECT_NEAR(entropy_of(problem, {2, false, mean_first}) - CudaCrossModalCase::kBegun, 34.0 * std::log(200.0), 1e-3);
  }
}

// Two heads that look at one column each, another one: no head is in doubt, and their mean is.
TEST_F(CudaCrossModalEntropy, TheMeanOverHeadsComesBeforeTheLogarithmWhereItIsAsked) {
  const std::vector<float> queries = {100, -100};  // one row, two heads
  const std::vector<float> keys = {1, -1};
  const std::vector<std::int32_t> numbers = {0, 1};
  CudaCrossModalArgs args;
  args.query_head_stride = 1;
  args.kv_heads = 1;
  args.group = 2;
  args.rows = 1;
  args.key_row_stride = 1;
  args.columns = 2;
  args.head_dim = 1;
  args.seen_by_first = 2;
  const DeviceMemory query(queries);
  const DeviceMemory key(keys);
  const DeviceMemory listed(numbers);
  const DeviceMemory workspace(std::vector<double>(64));
  for (const bool mean_first : {false, true}) {
    args.mean_first = mean_first;
    const DeviceMemory by_kernel(std::vector<double>{0.0});
    args.query = query.bytes();
    args.key = key.bytes();
    args.row_of = args.column_of = listed.as<std::int32_t>();
    args.entropy = by_kernel.as<double>();
    args.workspace = workspace.bytes();
    ASSERT_EQ(cuda_cross_modal_entropy(args, nullptr), LaunchStatus::kOk);
    double by_reference = 0.0, unused = 0.0;
    args.query = queries.data();
    args.key = keys.data();
    args.row_of = args.column_of = numbers.data();
    args.entropy = &by_reference;
    args.workspace = &unused;
    ASSERT_EQ(cuda_cross_modal_entropy_reference(args), LaunchStatus::kOk);
    EXPECT_NEAR(by_kernel.copy<double>().front(), mean_first ? std::log(2.0) : 0.0, 1e-6);
    EXPECT_NEAR(by_reference, mean_first ? std::log(2.0) : 0.0, 1e-12);
  }
}

TEST_F(CudaCrossModalEntropy, KeepsDamageVisible) {
  for (const float damage : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    CudaCrossModalCase problem({ElementType::kFp32, 16, 1, 2, 100, 100, 1});
    testing::put(problem.numbers.query.data(), ElementType::kFp32, (30 * 2 + 1) * problem.numbers.stride() + 3, damage);  // row 30, head 1
    for (const bool mean_first : {false, true}) {
      EXPECT_TRUE(std::isnan(entropy_of(problem, {2, false, mean_first}))) << damage;
      double entropy = 0.0, unused = 0.0;
      ASSERT_EQ(cuda_cross_modal_entropy_reference(problem.args(problem.here(entropy, &unused, false), 1, mean_first)), LaunchStatus::kOk);
      EXPECT_TRUE(std::isnan(entropy)) << damage;
    }
  }
}

}  // namespace
}  // namespace winnow::kernels::testing
