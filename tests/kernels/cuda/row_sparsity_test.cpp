// Row maxima and counts below them, of the operators and of their references, against the definition.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/kernels/cuda/runner.h"
#include "tests/kernels/cuda_sparsity_case.h"
#include "tests/kernels/device_memory.h"

namespace winnow::kernels::testing {
namespace {

class CudaRowSparsity : public testing::OnRunner {};

CudaSparsityCase::Result sparsity_of(const CudaSparsityCase& problem, const std::vector<std::byte>& queries, std::int64_t parts,
                                     bool by_table) {
  const DeviceMemory query(queries);
  const DeviceMemory key(problem.numbers.key);
  const DeviceMemory seen(problem.seen);
  CudaSparsityCase::Result result = problem.begun();
  const DeviceMemory maxima(result.maxima);
  const DeviceMemory counts(result.counts);
  const CudaSparsityCase::Memory memory = {query.bytes(), key.bytes(), by_table ? seen.as<std::int32_t>() : nullptr, maxima.as<float>(),
                                           counts.as<std::int64_t>()};
  EXPECT_EQ(cuda_row_maxima(problem.maxima_args(memory, parts), nullptr), LaunchStatus::kOk);
  EXPECT_EQ(cuda_count_below(problem.count_args(memory, parts), nullptr), LaunchStatus::kOk);
  result.maxima = maxima.copy<float>();
  result.counts = counts.copy<std::int64_t>();
  return result;
}
CudaSparsityCase::Result sparsity_of(const CudaSparsityCase& problem, std::int64_t parts, bool by_table) {
  return sparsity_of(problem, problem.numbers.query, parts, by_table);
}

CudaSparsityCase::Result reference_sparsity(const CudaSparsityCase& problem, const std::vector<std::byte>& queries, bool by_table) {
  CudaSparsityCase::Result result = problem.begun();
  CudaSparsityCase::Memory memory = problem.here(result, by_table);
  memory.query = queries.data();
  EXPECT_EQ(cuda_row_maxima_reference(problem.maxima_args(memory, 1)), LaunchStatus::kOk);
  EXPECT_EQ(cuda_count_below_reference(problem.count_args(memory, 1)), LaunchStatus::kOk);
  return result;
}

void expect_sparsity(const CudaColumnsCase::Shape& shape, std::int64_t parts) {
  const CudaSparsityCase problem(shape);
  for (const bool by_table : {false, true}) {
    SCOPED_TRACE(::testing::Message() << shape.name() << " parts " << parts << (by_table ? " by table" : ""));
    problem.expect_near(sparsity_of(problem, parts, by_table), by_table);
    problem.expect_near(reference_sparsity(problem, problem.numbers.query, by_table), by_table);
  }
}

TEST_F(CudaRowSparsity, EqualsTheDefinitionForEveryTypeAndHeadSize) {
  for (const ElementType type : testing::kEveryElementType) {
    for (const std::int64_t head_dim : {1, 18, 36, 64, 80, 128, 256, 512}) {
      for (const std::int64_t room : {8, 5}) {
        if (room == 5 && head_dim > 80) continue;  // what is not aligned is read one by one, whatever the size
        expect_sparsity({type, head_dim, 1, 2, 40, 70, 31, room}, 1);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(CudaRowSparsity, EqualsTheDefinitionForEverySizeAndGroup) {
  for (CudaColumnsCase::Shape shape : testing::column_sizes()) {
    for (std::int64_t group = 1; group <= (shape.rows == 70 ? 8 : 2); ++group) {
      shape.group = group;
      shape.head_dim = 24;
      shape.type = group % 2 == 0 ? ElementType::kBf16 : ElementType::kFp32;
      expect_sparsity(shape, group % 2 == 0 ? 3 : 1);
      if (HasFatalFailure()) return;
    }
  }
}

// Every head size and every group, not each with each: the definition is slow.
TEST_F(CudaRowSparsity, OnACardEqualsTheDefinitionOverTheGrid) {
  constexpr std::array<std::int64_t, 2> kHeads[] = {{1, 1}, {18, 3}, {64, 8}, {72, 1}, {80, 1}, {96, 1}, {128, 2}, {256, 1}, {512, 1}};
  if (!testing::runs_on_card()) GTEST_SKIP() << "too much for fibers";
  const auto expect = [](const CudaColumnsCase::Shape& shape) {
    SCOPED_TRACE(shape.name());
    const CudaSparsityCase problem(shape);
    for (const bool by_table : {false, true}) problem.expect_near(sparsity_of(problem, by_table ? 3 : 1, by_table), by_table);
  };
  for (const ElementType type : testing::kEveryElementType) {
    for (CudaColumnsCase::Shape shape : testing::column_sizes()) {
      for (const auto& [head_dim, group] : kHeads) {
        shape.type = type;
        shape.head_dim = head_dim;
        shape.group = group;
        expect(shape);
        if (HasFatalFailure()) return;
      }
    }
    expect({type, 64, 2, 1, 400, 400, 1});
    expect({type, 16, 2, 3, 20, 1000, 981});
    if (HasFatalFailure()) return;
  }
}

TEST_F(CudaRowSparsity, TakesAsManyQueryHeadsAsAllowed) { expect_sparsity({ElementType::kFp32, 8, 1, kMaxGroup, 3, 5, 2}, 1); }

TEST_F(CudaRowSparsity, IsTheSameInAnyNumberOfParts) {
  for (const ElementType type : {ElementType::kFp16, ElementType::kBf16}) {
    if (type == ElementType::kBf16 && !testing::runs_on_card()) continue;
    const CudaSparsityCase problem(type == ElementType::kFp16 ? CudaColumnsCase::Shape{type, 32, 2, 3, 100, 300, 200}
                                                              : CudaColumnsCase::Shape{type, 128, 2, 7, 500, 900, 401});
    const CudaSparsityCase::Result whole = sparsity_of(problem, 1, false);
    for (const std::int64_t parts : {1, 2, 5, 40}) {
      const CudaSparsityCase::Result split = sparsity_of(problem, parts, false);
      EXPECT_EQ(split.maxima, whole.maxima) << parts;
      EXPECT_EQ(split.counts, whole.counts) << parts;
    }
  }
}

// Two heads of keys 0, 1, -2 and queries 1 and -1: logits 0 1 -2 and 0 -1 2, of which row r sees r + 1.
TEST_F(CudaRowSparsity, OfAFewNumbersIsKnownByHand) {
  const std::vector<float> queries = {1, -1, 1, -1, 1, -1};  // [3 rows, 2 heads]
  const std::vector<float> keys = {0, 1, -2};
  const std::vector<float> none(6, CudaSparsityCase::kNone);
  CudaRowMaximaArgs maxima;
  maxima.query_head_stride = 1;
  maxima.query_row_stride = 2;
  maxima.kv_heads = 1;
  maxima.group = 2;
  maxima.rows = 3;
  maxima.key_row_stride = 1;
  maxima.columns = 3;
  maxima.head_dim = 1;
  maxima.seen_by_first = 1;
  maxima.maxima_stride = 3;
  for (const bool reference : {false, true}) {
    std::vector<float> found = none;
    std::vector<std::int64_t> below(2, 0);
    const DeviceMemory query(queries);
    const DeviceMemory key(keys);
    const DeviceMemory maxima_there(found);
    const DeviceMemory counts_there(below);
    maxima.query = reference ? queries.data() : query.as<float>();
    maxima.key = reference ? keys.data() : key.as<float>();
    maxima.maxima = reference ? found.data() : maxima_there.as<float>();
    CudaCountBelowArgs counts;
    static_cast<CudaSeenLogits&>(counts) = maxima;
    counts.maxima = maxima.maxima;
    counts.maxima_stride = 3;
    counts.counts = reference ? below.data() : counts_there.as<std::int64_t>();
    counts.below = -1.0F;
    ASSERT_EQ(reference ? cuda_row_maxima_reference(maxima) : cuda_row_maxima(maxima, nullptr), LaunchStatus::kOk);
    ASSERT_EQ(reference ? cuda_count_below_reference(counts) : cuda_count_below(counts, nullptr), LaunchStatus::kOk);
    EXPECT_EQ(reference ? found : maxima_there.copy<float>(), (std::vector<float>{0, 1, 1, 0, 0, 2}));
    EXPECT_EQ(reference ? below : counts_there.copy<std::int64_t>(), (std::vector<std::int64_t>{1, 2}))
        << "a logit at the threshold is not below it";
  }
}

// The row's maximum is damaged, and no other.
TEST_F(CudaRowSparsity, KeepsDamageVisible) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  for (const ElementType type : {ElementType::kFp32, ElementType::kBf16}) {
    const CudaSparsityCase problem({type, 16, 1, 2, 100, 100, 1});
    for (const float damage : {nan, -nan, infinity}) {
      std::vector<std::byte> query = problem.numbers.query;
      testing::put(query.data(), type, (30 * 2 + 1) * problem.numbers.stride() + 3, damage);  // row 30 of head 1
      for (const bool reference : {false, true}) {
        const CudaSparsityCase::Result result =
            reference ? reference_sparsity(problem, query, false) : sparsity_of(problem, query, 2, false);
        for (std::int64_t row = 0; row < 100; ++row) {
          const float highest = result.maxima[static_cast<std::size_t>(problem.stride() + row)];
          EXPECT_EQ(std::isfinite(highest), row != 30) << row;
          EXPECT_EQ(std::isnan(highest), row == 30 && std::isnan(damage)) << row;
          EXPECT_TRUE(std::isfinite(result.maxima[static_cast<std::size_t>(row)])) << "another head, row " << row;
        }
      }
    }
  }
}

}  // namespace
}  // namespace winnow::kernels::testing
