// The CUDA kernels of column sums: their own source on CPU threads (cuda_on_cpu.h), against kernels/reference.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <limits>

#include "tests/kernels/cuda_on_cpu.h"

#include "kernels/cuda/column_sums.cuh"
#include "kernels/cuda/column_sums_matrix.cuh"
#include "kernels/reference/check_column_sums.h"
#include "tests/kernels/cuda_columns_case.h"

namespace winnow::kernels {
namespace {

using testing::CudaColumnsCase;

// As cuda_column_sums() launches.
template <class T>
cuda::ColumnSumsLaunch sum_parts_on_cpu(const CudaColumnSumsArgs& args) {
  if constexpr (sizeof(T) == 2) {
    if (cuda::fits_tensor_cores<T>(args)) {
      const cuda::ColumnSumsLaunch launch = cuda::plan_launch(args, cuda::kStripColumns);
      cuda::for_strips(args, [&](auto chunks, auto more) {
        cuda::launch_on_cpu({cuda::strip_blocks(launch), static_cast<unsigned>(launch.kv_heads), static_cast<unsigned>(launch.parts)},
                            cuda::kStripThreads,
                            [&] { cuda::sum_columns_by_matrix<T, decltype(chunks)::value, decltype(more)::value>(launch); });
      });
      return launch;
    }
  }
  const cuda::ColumnSumsLaunch launch = cuda::plan_launch(args);
  const bool vectors = cuda::reads_vectors<T>(args);
  cuda::launch_on_cpu({static_cast<unsigned>(launch.tiles), static_cast<unsigned>(launch.kv_heads), static_cast<unsigned>(launch.parts)},
                      cuda::kLogitThreads,
                      [&] { vectors ? cuda::sum_columns<T, cuda::kWidest<T>>(launch) : cuda::sum_columns<T, 1>(launch); });
  return launch;
}

template <class T>
void sum_on_cpu(const CudaColumnSumsArgs& args) {
  const cuda::ColumnSumsLaunch launch = sum_parts_on_cpu<T>(args);
  cuda::launch_on_cpu(
      {(static_cast<unsigned>(launch.columns) + cuda::kPartThreads - 1) / cuda::kPartThreads, cuda::part_results(launch), 1},
      cuda::kPartThreads, [&] { cuda::add_parts(launch); });
}

void sum_on_cpu(const CudaColumnSumsArgs& args) {
  ASSERT_EQ(check_arguments(args), LaunchStatus::kOk);
  switch (args.type) {
    case ElementType::kFp32:
      return sum_on_cpu<float>(args);
    case ElementType::kBf16:
      return sum_on_cpu<cuda::Bf16>(args);
    case ElementType::kFp16:
      return sum_on_cpu<cuda::Fp16>(args);
  }
}

constexpr double kGuard = 12345.0;  // stands behind the workspace

struct Wanted {
  bool squares = true;
  bool entropy = true;
};

CudaColumnsCase::Result columns_of(const CudaColumnsCase& problem, std::int64_t parts, Wanted wanted = {}) {
  CudaColumnsCase::Result result(problem.shape);
  CudaColumnSumsArgs args = problem.args(result, nullptr, parts);
  if (!wanted.squares) args.squares = nullptr;
  if (!wanted.entropy) args.entropy = nullptr;
  const std::int64_t bytes = cuda_column_sums_workspace(args);
  std::vector<double> workspace(static_cast<std::size_t>(bytes) / 8 + 2, kGuard);
  args.workspace = workspace.data();
  sum_on_cpu(args);
  EXPECT_EQ(workspace.back(), kGuard) << "beyond the workspace";
  return result;
}

void expect_columns(const CudaColumnsCase::Shape& shape, std::int64_t parts) {
  SCOPED_TRACE(::testing::Message() << shape.name() << " parts " << parts);
  const CudaColumnsCase problem(shape);
  problem.expect_near(columns_of(problem, parts));
}

TEST(CudaColumnsSource, EqualTheReferenceForEveryTypeAndHeadSize) {
  for (const ElementType type : testing::kEveryElementType) {
    for (const std::int64_t head_dim : {1, 18, 36, 64, 72, 80, 96, 128, 256, 512}) {
      for (const std::int64_t room : {8, 5}) {
        if (room == 5 && head_dim > 80) continue;  // what is not aligned is read one by one, whatever the size
        expect_columns({type, head_dim, 1, 2, 70, 50, 1, room}, 1);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(CudaColumnsSource, EqualTheReferenceForEverySizeAndGroup) {
  for (const CudaColumnsCase::Shape& size : testing::column_sizes()) {
    for (std::int64_t group = 1; group <= (size.rows == 70 ? 8 : 2); ++group) {
      CudaColumnsCase::Shape shape = size;
      shape.group = group;
      shape.head_dim = 24;
      shape.type = group % 2 == 0 ? ElementType::kBf16 : ElementType::kFp32;
      expect_columns(shape, group % 2 == 0 ? 3 : 1);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(CudaColumnsSource, TakeAsManyQueryHeadsAsAllowed) { expect_columns({ElementType::kFp32, 8, 1, kMaxGroup, 3, 5, 2}, 1); }

TEST(CudaColumnsSource, GiveTheSameWhateverIsWantedBeside) {
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

// Keys of zeros: row r gives 1 / (r + 1) to each of its r + 1 columns.
TEST(CudaColumnsSource, OfUniformAttentionAreKnownByHand) {
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

void expect_damage(ElementType type) {
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

TEST(CudaColumnsSource, KeepDamageVisible) {
  expect_damage(ElementType::kFp32);
  expect_damage(ElementType::kBf16);
}

// Two rows and two columns that are 2^31 elements apart: offsets have 64 bits.
void expect_far_rows(ElementType type) {
  constexpr std::int64_t kFar = std::int64_t{1} << 31;
  constexpr std::size_t kPage = 4096;
  const std::size_t element = type == ElementType::kFp32 ? 4 : 2;
  const std::size_t bytes = element * static_cast<std::size_t>(kFar) + kPage;
  void* const memory = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) GTEST_SKIP() << "no room for an address range of 8 GiB";
  auto* const near = static_cast<std::byte*>(memory);
  std::byte* const far = near + bytes - kPage;
  ASSERT_EQ(mprotect(near, kPage, PROT_READ | PROT_WRITE) | mprotect(far, kPage, PROT_READ | PROT_WRITE), 0);
  const CudaColumnsCase problem({type, 8, 1, 1, 2, 2, 1});
  const std::size_t row = static_cast<std::size_t>(problem.stride()) * element;
  for (const auto& [to, index] : {std::pair(near, 0U), std::pair(far, 1U)}) {
    std::copy_n(problem.query.data() + index * row, row, to);
    std::copy_n(problem.key.data() + index * row, row, to + row);
  }
  CudaColumnsCase::Result result(problem.shape);
  std::vector<double> workspace(16);
  CudaColumnSumsArgs args = problem.args(result, workspace.data(), 1);
  args.query = near;
  args.query_row_stride = kFar;
  args.key = near + row;
  args.key_row_stride = kFar;
  sum_on_cpu(args);
  problem.expect_near(result);
  munmap(memory, bytes);
}

TEST(CudaColumnsSource, RowsMayLieFarApart) {
  expect_far_rows(ElementType::kBf16);
  expect_far_rows(ElementType::kFp32);
}

TEST(CudaColumnsSource, ReadVectorsWhereRowsAreAligned) {
  const CudaColumnsCase problem({ElementType::kBf16, 16, 2, 1, 4, 4, 1});
  CudaColumnsCase::Result result(problem.shape);
  const CudaColumnSumsArgs good = problem.args(result, nullptr, 1);
  const auto vectors = [&](const auto& change) {
    CudaColumnSumsArgs args = good;
    change(args);
    return cuda::reads_vectors<cuda::Bf16>(args);
  };
  EXPECT_TRUE(vectors([](CudaColumnSumsArgs&) {}));
  EXPECT_FALSE(vectors([](CudaColumnSumsArgs& args) { args.head_dim = 12; }));
  EXPECT_FALSE(vectors([](CudaColumnSumsArgs& args) { args.query_row_stride += 4; }));
  EXPECT_FALSE(vectors([](CudaColumnSumsArgs& args) { args.key_head_stride += 4; }));
  EXPECT_FALSE(vectors([](CudaColumnSumsArgs& args) { args.key = static_cast<const std::byte*>(args.key) + 8; }));
}

TEST(CudaColumnsSource, TakeTheTensorCoresForAlignedRowsOf16Bits) {
  const CudaColumnsCase problem({ElementType::kBf16, 256, 1, 1, 4, 4, 1});
  CudaColumnsCase::Result result(problem.shape);
  CudaColumnSumsArgs args = problem.args(result, nullptr, 1);
  EXPECT_TRUE(cuda::fits_tensor_cores<cuda::Bf16>(args));
  EXPECT_TRUE(cuda::fits_tensor_cores<cuda::Fp16>(args));
  EXPECT_FALSE(cuda::fits_tensor_cores<float>(args));
  args.head_dim = 264;
  EXPECT_FALSE(cuda::fits_tensor_cores<cuda::Bf16>(args)) << "more registers than there are";
  args.head_dim = 72;
  EXPECT_TRUE(cuda::fits_tensor_cores<cuda::Bf16>(args));
  args.key_row_stride += 4;
  EXPECT_FALSE(cuda::fits_tensor_cores<cuda::Bf16>(args));
}

// Several thread blocks side by side, strips that all rows see, that some do and that none does; more steps than are under way.
TEST(CudaColumnsSource, EqualTheReferenceAcrossStrips) {
  for (const std::int64_t parts : {1, 2}) {
    expect_columns({ElementType::kBf16, 128, 1, 3, 150, 200, 60}, parts);
    expect_columns({ElementType::kFp16, 96, 2, 1, 150, 150, 1}, parts);
    expect_columns({ElementType::kBf16, 256, 1, 2, 100, 150, 50}, parts);
  }
}

TEST(CudaColumnsSource, PartsFillTheDeviceAndAreWholeTiles) {
  EXPECT_EQ(cuda_column_sums_parts(65536, 65536, 8, 132), 1);  // 8192 tiles a part
  EXPECT_EQ(cuda_column_sums_parts(8192, 8192, 4, 132), 9);    // 512
  EXPECT_EQ(cuda_column_sums_parts(2048, 2048, 2, 132), 32);   // no part is shorter than a tile
  EXPECT_EQ(cuda_column_sums_parts(32, 2048, 2, 132), 1);      // one tile of rows
  EXPECT_EQ(cuda_column_sums_parts(1 << 30, 1, 1, 1 << 20), kMaxCudaGridSide);
  EXPECT_EQ(cuda_column_sums_parts(0, 0, 1, 132), 1);
  EXPECT_EQ(cuda_logit_parts(2048, 2048, 2, 132), 9);  // of 64 tiles: four thread blocks on a multiprocessor are wanted
  const CudaColumnsCase problem({ElementType::kFp32, 8, 2, 3, 300, 130, 1});
  CudaColumnsCase::Result result(problem.shape);
  const cuda::ColumnSumsLaunch launch = cuda::plan_launch(problem.args(result, nullptr, 4));
  EXPECT_EQ(launch.part_rows, 128);
  EXPECT_EQ(launch.parts, 3) << "none without rows";
  EXPECT_EQ(launch.tiles, 3);
  EXPECT_EQ(cuda::part_results(launch), 8U);
  EXPECT_EQ(cuda_column_sums_workspace(problem.args(result, nullptr, 4)), 4 * (8 * 6 * 5 + 4 * 8 * 130));
}

TEST(CudaColumnsSource, RefuseBadArguments) {
  const CudaColumnsCase problem({ElementType::kFp32, 8, 2, 2, 4, 4, 1});
  CudaColumnsCase::Result result(problem.shape);
  std::vector<double> workspace(64);
  const CudaColumnSumsArgs good = problem.args(result, workspace.data(), 1);
  const auto status = [&](const auto& change) {
    CudaColumnSumsArgs args = good;
    change(args);
    const LaunchStatus checked = check_arguments(args);
    if (checked == LaunchStatus::kOk) return checked;
    EXPECT_EQ(cuda_column_sums_reference(args), checked);
    return checked;
  };
  EXPECT_EQ(status([](CudaColumnSumsArgs&) {}), LaunchStatus::kOk);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.query = nullptr; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.key = nullptr; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.log_sum_exp = nullptr; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.sums = nullptr; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.workspace = nullptr; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.workspace = static_cast<char*>(args.workspace) + 4; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.kv_heads = 0; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.group = 0; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.head_dim = 0; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.rows = -1; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.columns = -1; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.parts = 0; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.parts = kMaxCudaGridSide + 1; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.type = static_cast<ElementType>(9); }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.group = kMaxGroup + 1; }), LaunchStatus::kUnsupported);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.head_dim = kMaxHeadDim + 1; }), LaunchStatus::kUnsupported);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.kv_heads = 30000; }), LaunchStatus::kUnsupported);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.rows = kMaxCudaLogitSide + 1; }), LaunchStatus::kUnsupported);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.columns = kMaxCudaLogitSide + 1; }), LaunchStatus::kUnsupported);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.rows = 0; }), LaunchStatus::kOk);
}

}  // namespace
}  // namespace winnow::kernels
