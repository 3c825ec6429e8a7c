// Column sums of attention against their reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <vector>

#include "tests/kernels/cuda/runner.h"
#include "tests/kernels/cuda_columns_case.h"
#include "tests/kernels/device_memory.h"

namespace winnow::kernels::testing {
namespace {

class CudaColumnSums : public testing::OnRunner {};

struct Wanted {
  bool squares = true;
  bool entropy = true;
};

CudaColumnsCase::Result columns_of(const CudaColumnsCase& problem, std::int64_t parts, Wanted wanted = {}) {
  const DeviceMemory query(problem.query);
  const DeviceMemory key(problem.key);
  const DeviceMemory log_sum_exp(problem.log_sum_exp);
  CudaColumnsCase::Result result(problem.shape);
  const DeviceMemory sums(result.sums);
  const DeviceMemory squares(result.squares);
  const DeviceMemory entropy(result.entropy);
  CudaColumnSumsArgs args = problem.args(
      {query.bytes(), key.bytes(), log_sum_exp.as<float>(), sums.as<float>(), squares.as<float>(), entropy.as<double>(), nullptr}, parts);
  if (!wanted.squares) args.squares = nullptr;
  if (!wanted.entropy) args.entropy = nullptr;
  const DeviceMemory workspace(std::vector<std::byte>(static_cast<std::size_t>(cuda_column_sums_workspace(args)), std::byte{0x7F}));
  args.workspace = workspace.bytes();
  EXPECT_EQ(cuda_column_sums(args, nullptr), LaunchStatus::kOk);
  result.sums = sums.copy<float>();
  result.squares = squares.copy<float>();
  result.entropy = entropy.copy<double>();
  return result;
}

void expect_columns(const CudaColumnsCase::Shape& shape, std::initializer_list<std::int64_t> splits) {
  const CudaColumnsCase problem(shape);
  for (const std::int64_t parts : splits) {
    SCOPED_TRACE(::testing::Message() << shape.name() << " parts " << parts);
    problem.expect_near(columns_of(problem, parts));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST_F(CudaColumnSums, EqualTheReferenceForEveryTypeAndHeadSize) {
  for (const ElementType type : testing::kEveryElementType) {
    for (const std::int64_t head_dim : {1, 18, 36, 64, 72, 80, 96, 128, 256, 512}) {
      for (const std::int64_t room : {8, 5}) {
        if (room == 5 && head_dim > 80) continue;  // what is not aligned is read one by one, whatever the size
        expect_columns({type, head_dim, 1, 2, 70, 50, 1, room}, {1});
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(CudaColumnSums, EqualTheReferenceForEverySizeAndGroup) {
  for (CudaColumnsCase::Shape shape : testing::column_sizes()) {
    for (std::int64_t group = 1; group <= (shape.rows == 70 ? 8 : 2); ++group) {
      shape.group = group;
      shape.head_dim = 24;
      shape.type = group % 2 == 0 ? ElementType::kBf16 : ElementType::kFp32;
      expect_columns(shape, {group % 2 == 0 ? 3 : 1});
      if (HasFatalFailure()) return;
    }
  }
}

// The reference is slow: every head size and every group occurs, not each with each.
TEST_F(CudaColumnSums, OnACardEqualTheReferenceOverTheGrid) {
  constexpr std::array<std::int64_t, 2> kHeads[] = {{1, 1},  {18, 3},  {32, 4},  {64, 8},  {72, 3}, {80, 1},
                                                    {96, 2}, {128, 7}, {160, 1}, {256, 3}, {512, 1}};
  if (!testing::runs_on_card()) GTEST_SKIP() << "too much for fibers";
  for (const ElementType type : testing::kEveryElementType) {
    for (CudaColumnsCase::Shape shape : testing::column_sizes()) {
      for (const auto& [head_dim, group] : kHeads) {
        for (const std::int64_t room : {8, 5}) {
          if (room == 5 && head_dim > 80) continue;
          shape.type = type;
          shape.head_dim = head_dim;
          shape.group = group;
          shape.room = room;
          expect_columns(shape, {1, 3});
          if (HasFatalFailure()) return;
        }
      }
    }
    expect_columns({type, 128, 1, 7, 300, 400, 101}, {1, 3});
    expect_columns({type, 64, 2, 1, 700, 700, 1}, {1, 3});
    if (HasFatalFailure()) return;
  }
}

TEST_F(CudaColumnSums, TakeAsManyQueryHeadsAsAllowed) { expect_columns({ElementType::kFp32, 8, 1, kMaxGroup, 3, 5, 2}, {1}); }

// Several thread blocks side by side, strips that all rows see, that some do and that none does; more steps than are under way.
TEST_F(CudaColumnSums, EqualTheReferenceAcrossStrips) {
  expect_columns({ElementType::kBf16, 128, 1, 3, 150, 200, 60}, {1, 2});
  expect_columns({ElementType::kFp16, 96, 2, 1, 150, 150, 1}, {1, 2});
  expect_columns({ElementType::kBf16, 256, 1, 2, 100, 150, 50}, {1, 2});
}

TEST_F(CudaColumnSums, GiveTheSameWhateverIsWantedBeside) {
  const CudaColumnsCase problem({ElementType::kFp16, 32, 2, 3, 100, 90, 1});
  const CudaColumnsCase::Result all = columns_of(problem, 2);
  for (const Wanted wanted : {Wanted{false, true}, Wanted{true, false}, Wanted{false, false}}) {
    const CudaColumnsCase::Result some = columns_of(problem, 2, wanted);
    const CudaColumnsCase::Result none(problem.shape);
    EXPECT_EQ(some.sums, all.sums);
    EXPECT_EQ(some.squares, wanted.squares ? all.squares : none.squares);
    EXPECT_EQ(some.entropy, wanted.entropy ? all.entropy : none.entropy);
  }
}

TEST_F(CudaColumnSums, OfTheSameInputsAreTheSameBits) {
  const std::int64_t rows = testing::runs_on_card() ? 1000 : 100;
  const CudaColumnsCase problem({ElementType::kBf16, 128, 2, testing::runs_on_card() ? 7 : 1, rows, rows - 10, 1});
  const CudaColumnsCase::Result first = columns_of(problem, 5);
  const CudaColumnsCase::Result second = columns_of(problem, 5);
  EXPECT_EQ(first.sums, second.sums);
  EXPECT_EQ(first.squares, second.squares);
  EXPECT_EQ(first.entropy, second.entropy);
}

// Keys of zeros: row r gives 1 / (r + 1) to each of its r + 1 columns.
TEST_F(CudaColumnSums, OfUniformAttentionAreKnownByHand) {
  constexpr std::int64_t kRows = 150;
  CudaColumnsCase problem({ElementType::kBf16, 64, 1, 2, kRows, kRows, 1});
  std::fill(problem.key.begin(), problem.key.end(), std::byte{0});
  for (std::int64_t i = 0; i < 2 * kRows; ++i) {
    problem.log_sum_exp[static_cast<std::size_t>(i)] = std::log(static_cast<float>(i % kRows + 1));
  }
  for (const std::int64_t parts : {1, 2}) {
    const CudaColumnsCase::Result result = columns_of(problem, parts);
    double expected = 1.0, squared = 1.0, entropy = 1.0;
    for (std::int64_t column = kRows - 1; column >= 0; --column) {
      const auto at = static_cast<double>(column) + 1.0;
      expected += 1.0 / at;
      squared += 1.0 / (at * at);
      entropy += std::log(at);
      EXPECT_NEAR(result.sums[static_cast<std::size_t>(column)], expected, 1e-4) << column;
      EXPECT_NEAR(result.squares[static_cast<std::size_t>(column)], squared, 1e-4) << column;
    }
    EXPECT_NEAR(result.entropy[1], entropy, 1e-3);
  }
}

TEST_F(CudaColumnSums, KeepDamageVisible) {
  for (const ElementType type : {ElementType::kFp32, ElementType::kBf16}) {
    CudaColumnsCase problem({type, 16, 2, 2, 100, 100, 1});
    testing::put(problem.key.data(), type, 40 * 2 * problem.stride() + 3, std::numeric_limits<float>::quiet_NaN());
    const CudaColumnsCase::Result result = columns_of(problem, 2);
    const std::size_t head = 100 + CudaColumnsCase::kBeside;
    for (std::size_t column = 0; column < 100; ++column) {
      EXPECT_EQ(std::isnan(result.sums[head + column]), column == 40) << column;
      EXPECT_EQ(std::isnan(result.squares[column]), column == 40) << column;
      EXPECT_FALSE(std::isnan(result.sums[2 * head + column])) << "another kv head, column " << column;
    }
    EXPECT_TRUE(std::isnan(result.entropy[0]));
    EXPECT_FALSE(std::isnan(result.entropy[2]));
  }
}

}  // namespace
}  // namespace winnow::kernels::testing
