// The CUDA kernels of a prefill's row statistics on a GPU. Skips where no device is; cuda_sparsity_source_test.cpp and
// cuda_cross_modal_source_test.cpp run their source everywhere.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/api/cuda_cross_modal_entropy.h"
#include "kernels/api/cuda_row_sparsity.h"
#include "tests/kernels/cuda_cross_modal_case.h"
#include "tests/kernels/cuda_sparsity_case.h"
#include "tests/kernels/device_memory.h"
#include "tests/kernels/on_cuda_device.h"

namespace winnow::kernels {
namespace {

using testing::CudaColumnsCase;
using testing::CudaCrossModalCase;
using testing::CudaSparsityCase;
using testing::DeviceMemory;

class CudaStatistics : public testing::OnCudaDevice {};

CudaSparsityCase::Result sparsity_of(const CudaSparsityCase& problem, std::int64_t parts, bool by_table) {
  const DeviceMemory query(problem.numbers.query);
  const DeviceMemory key(problem.numbers.key);
  const DeviceMemory seen(problem.seen);
  CudaSparsityCase::Result result = problem.begun();
  const DeviceMemory maxima(result.maxima);
  const DeviceMemory counts(result.counts);
  const CudaSparsityCase::Memory memory = {query.bytes(), key.bytes(), by_table ? seen.as<std::int32_t>() : nullptr, maxima.as<float>(),
                                           counts.as<std::int64_t>()};
  EXPECT_EQ(cuda_row_maxima(problem.maxima_args(memory, parts), nullptr), LaunchStatus::kOk);
  EXPECT_EQ(cuda_count_below(problem.count_args(memory, parts), nullptr), LaunchStatus::kOk);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  result.maxima = maxima.copy<float>();
  result.counts = counts.copy<std::int64_t>();
  return result;
}

// Every head size and every group, not each with each: the definitions are slow.
constexpr std::array<std::int64_t, 2> kHeads[] = {{1, 1}, {18, 3}, {64, 8}, {72, 1}, {80, 1}, {96, 1}, {128, 2}, {256, 1}, {512, 1}};

void expect_sparsity(const CudaColumnsCase::Shape& shape) {
  const CudaSparsityCase problem(shape);
  for (const std::int64_t parts : {1, 3}) {
    const bool by_table = parts == 3;
    SCOPED_TRACE(::testing::Message() << shape.name() << " parts " << parts);
    problem.expect_near(sparsity_of(problem, parts, by_table), by_table);
  }
}

TEST_F(CudaStatistics, SparsityEqualsTheDefinitionOverTheGrid) {
  for (const ElementType type : testing::kEveryElementType) {
    for (CudaColumnsCase::Shape shape : testing::column_sizes()) {
      for (const auto& [head_dim, group] : kHeads) {
        shape.type = type;
        shape.head_dim = head_dim;
        shape.group = group;
        expect_sparsity(shape);
        if (HasFatalFailure()) return;
      }
    }
    expect_sparsity({type, 64, 2, 1, 400, 400, 1});
    expect_sparsity({type, 16, 2, 3, 20, 1000, 981});
    if (HasFatalFailure()) return;
  }
}

TEST_F(CudaStatistics, SparsityOfTheSameInputsIsTheSameInAnyNumberOfParts) {
  const CudaSparsityCase problem({ElementType::kBf16, 128, 2, 7, 500, 900, 401});
  const CudaSparsityCase::Result whole = sparsity_of(problem, 1, false);
  for (const std::int64_t parts : {1, 5, 14}) {
    const CudaSparsityCase::Result again = sparsity_of(problem, parts, false);
    EXPECT_EQ(again.maxima, whole.maxima) << parts;
    EXPECT_EQ(again.counts, whole.counts) << parts;
  }
}

// Of damage as of everything else: the row's maximum is damaged, and no other.
TEST_F(CudaStatistics, SparsityKeepsDamageVisible) {
  const CudaSparsityCase problem({ElementType::kBf16, 64, 1, 2, 200, 200, 1});
  const DeviceMemory key(problem.numbers.key);
  for (const float damage : {-std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<std::byte> damaged = problem.numbers.query;
    testing::put(damaged.data(), ElementType::kBf16, (130 * 2 + 1) * problem.numbers.stride() + 3, damage);  // row 130 of head 1
    const DeviceMemory query(damaged);
    const DeviceMemory maxima(problem.begun().maxima);
    const CudaSparsityCase::Memory memory = {query.bytes(), key.bytes(), nullptr, maxima.as<float>(), nullptr};
    ASSERT_EQ(cuda_row_maxima(problem.maxima_args(memory, 3), nullptr), LaunchStatus::kOk);
    const std::vector<float> found = maxima.copy<float>();
    for (std::int64_t row = 0; row < 200; ++row) {
      EXPECT_EQ(std::isfinite(found[static_cast<std::size_t>(problem.stride() + row)]), row != 130) << row;
      EXPECT_TRUE(std::isfinite(found[static_cast<std::size_t>(row)])) << "another head, row " << row;
    }
  }
}

double entropy_of(const CudaCrossModalCase& problem, std::int64_t parts, bool causal, bool mean_first) {
  const DeviceMemory query(problem.numbers.query);
  const DeviceMemory key(problem.numbers.key);
  const DeviceMemory row_of(problem.row_of);
  const DeviceMemory column_of(problem.column_of);
  const DeviceMemory seen(problem.seen);
  const DeviceMemory entropy(std::vector<double>{CudaCrossModalCase::kBegun});
  CudaCrossModalArgs args = problem.args({query.bytes(), key.bytes(), row_of.as<std::int32_t>(), column_of.as<std::int32_t>(),
                                          causal ? seen.as<std::int32_t>() : nullptr, entropy.as<double>(), nullptr},
                                         parts, mean_first);
  const DeviceMemory workspace(std::vector<std::byte>(static_cast<std::size_t>(cuda_cross_modal_workspace(args)), std::byte{0x7F}));
  args.workspace = workspace.bytes();
  EXPECT_EQ(cuda_cross_modal_entropy(args, nullptr), LaunchStatus::kOk);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  return entropy.copy<double>().front();
}

void expect_entropies(const CudaColumnsCase::Shape& shape) {
  const CudaCrossModalCase problem(shape);
  for (const bool causal : {false, true}) {
    for (const bool mean_first : {false, true}) {
      const std::int64_t parts = causal ? 3 : 1;
      SCOPED_TRACE(::testing::Message() << shape.name() << " parts " << parts << (mean_first ? " mean first" : ""));
      problem.expect_near(entropy_of(problem, parts, causal, mean_first), causal, mean_first);
    }
  }
}

TEST_F(CudaStatistics, CrossModalEntropyEqualsTheReferenceOverTheGrid) {
  for (const ElementType type : testing::kEveryElementType) {
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {130, 140}, {193, 3}, {4, 400}}) {
      for (const auto& [head_dim, group] : kHeads) {
        expect_entropies({type, head_dim, 2, group, rows, columns, 1});
        if (HasFatalFailure()) return;
      }
    }
    expect_entropies({type, 18, 2, 3, 600, 300, 1});
    if (HasFatalFailure()) return;
  }
}

TEST_F(CudaStatistics, CrossModalEntropyOfTheSameInputsIsTheSameBits) {
  const CudaCrossModalCase problem({ElementType::kBf16, 128, 2, 7, 300, 400, 1});
  for (const bool mean_first : {false, true}) {
    EXPECT_EQ(entropy_of(problem, 5, false, mean_first), entropy_of(problem, 5, false, mean_first)) << mean_first;
  }
}

}  // namespace
}  // namespace winnow::kernels
