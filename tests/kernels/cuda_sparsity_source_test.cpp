// The CUDA kernels of row maxima and counts below them: their own source on CPU threads (cuda_on_cpu.h), and the reference, against the
// definition.
#include <gtest/gtest.h>

#include <limits>

#include "tests/kernels/cuda_on_cpu.h"

#include "kernels/cuda/row_sparsity.cuh"
#include "kernels/reference/check_row_sparsity.h"
#include "tests/kernels/cuda_sparsity_case.h"

namespace winnow::kernels {
namespace {

using testing::CudaColumnsCase;
using testing::CudaSparsityCase;

// As cuda_row_maxima() and cuda_count_below() launch.
template <class Launch, class Kernel>
void walk_on_cpu(const Launch& launch, const Kernel& kernel) {
  cuda::launch_on_cpu({static_cast<unsigned>(launch.tiles), static_cast<unsigned>(launch.kv_heads), static_cast<unsigned>(launch.parts)},
                      cuda::kLogitThreads, kernel);
}

template <class T>
void find_on_cpu(const CudaRowMaximaArgs& args) {
  const cuda::RowMaximaLaunch launch = cuda::plan_launch(args);
  const bool vectors = cuda::reads_vectors<T>(args);
  walk_on_cpu(launch, [&] { vectors ? cuda::find_row_maxima<T, cuda::kWidest<T>>(launch) : cuda::find_row_maxima<T, 1>(launch); });
}

template <class T>
void count_on_cpu(const CudaCountBelowArgs& args) {
  const cuda::CountBelowLaunch launch = cuda::plan_launch(args);
  const bool vectors = cuda::reads_vectors<T>(args);
  walk_on_cpu(launch, [&] { vectors ? cuda::count_below<T, cuda::kWidest<T>>(launch) : cuda::count_below<T, 1>(launch); });
}

void run_on_cpu(const CudaRowMaximaArgs& maxima, const CudaCountBelowArgs& counts) {
  ASSERT_EQ(check_arguments(maxima), LaunchStatus::kOk);
  ASSERT_EQ(check_arguments(counts), LaunchStatus::kOk);
  switch (maxima.type) {
    case ElementType::kFp32:
      find_on_cpu<float>(maxima);
      return count_on_cpu<float>(counts);
    case ElementType::kBf16:
      find_on_cpu<cuda::Bf16>(maxima);
      return count_on_cpu<cuda::Bf16>(counts);
    case ElementType::kFp16:
      find_on_cpu<cuda::Fp16>(maxima);
      return count_on_cpu<cuda::Fp16>(counts);
  }
}

void run_reference(const CudaRowMaximaArgs& maxima, const CudaCountBelowArgs& counts) {
  ASSERT_EQ(cuda_row_maxima_reference(maxima), LaunchStatus::kOk);
  ASSERT_EQ(cuda_count_below_reference(counts), LaunchStatus::kOk);
}

template <class Run>
CudaSparsityCase::Result sparsity_of(const CudaSparsityCase& problem, std::int64_t parts, bool by_table, const Run& run) {
  CudaSparsityCase::Result result = problem.begun();
  const CudaSparsityCase::Memory memory = problem.here(result, by_table);
  run(problem.maxima_args(memory, parts), problem.count_args(memory, parts));
  return result;
}

void expect_sparsity(const CudaColumnsCase::Shape& shape, std::int64_t parts) {
  const CudaSparsityCase problem(shape);
  for (const bool by_table : {false, true}) {
    SCOPED_TRACE(::testing::Message() << shape.name() << " parts " << parts << (by_table ? " by table" : ""));
    problem.expect_near(sparsity_of(problem, parts, by_table, [](const auto&... args) { run_on_cpu(args...); }), by_table);
    problem.expect_near(sparsity_of(problem, parts, by_table, run_reference), by_table);
  }
}

TEST(CudaSparsitySource, EqualsTheDefinitionForEveryTypeAndHeadSize) {
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

TEST(CudaSparsitySource, EqualsTheDefinitionForEverySizeAndGroup) {
  for (const CudaColumnsCase::Shape& size : testing::column_sizes()) {
    for (std::int64_t group = 1; group <= (size.rows == 70 ? 8 : 2); ++group) {
      CudaColumnsCase::Shape shape = size;
      shape.group = group;
      shape.head_dim = 24;
      shape.type = group % 2 == 0 ? ElementType::kBf16 : ElementType::kFp32;
      expect_sparsity(shape, group % 2 == 0 ? 3 : 1);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(CudaSparsitySource, TakesAsManyQueryHeadsAsAllowed) { expect_sparsity({ElementType::kFp32, 8, 1, kMaxGroup, 3, 5, 2}, 1); }

TEST(CudaSparsitySource, IsTheSameInAnyNumberOfParts) {
  const CudaSparsityCase problem({ElementType::kFp16, 32, 2, 3, 100, 300, 200});
  const auto run = [](const auto&... args) { run_on_cpu(args...); };
  const CudaSparsityCase::Result whole = sparsity_of(problem, 1, false, run);
  for (const std::int64_t parts : {2, 5, 40}) {
    const CudaSparsityCase::Result split = sparsity_of(problem, parts, false, run);
    EXPECT_EQ(split.maxima, whole.maxima) << parts;
    EXPECT_EQ(split.counts, whole.counts) << parts;
  }
}

// Two heads of keys 0, 1, -2 and queries 1 and -1: logits 0 1 -2 and 0 -1 2, of which row r sees r + 1.
TEST(CudaSparsitySource, OfAFewNumbersIsKnownByHand) {
  const std::vector<float> query = {1, -1, 1, -1, 1, -1};  // [3 rows, 2 heads]
  const std::vector<float> key = {0, 1, -2};
  for (const bool reference : {false, true}) {
    std::vector<float> maxima(6, CudaSparsityCase::kNone);
    std::vector<std::int64_t> counts(2, 0);
    CudaRowMaximaArgs maxima_args;
    maxima_args.query = query.data();
    maxima_args.query_head_stride = 1;
    maxima_args.query_row_stride = 2;
    maxima_args.kv_heads = 1;
    maxima_args.group = 2;
    maxima_args.rows = 3;
    maxima_args.key = key.data();
    maxima_args.key_row_stride = 1;
    maxima_args.columns = 3;
    maxima_args.head_dim = 1;
    maxima_args.seen_by_first = 1;
    maxima_args.maxima = maxima.data();
    maxima_args.maxima_stride = 3;
    CudaCountBelowArgs count_args;
    static_cast<CudaSeenLogits&>(count_args) = maxima_args;
    count_args.maxima = maxima.data();
    count_args.maxima_stride = 3;
    count_args.counts = counts.data();
    count_args.below = -1.0F;
    reference ? run_reference(maxima_args, count_args) : run_on_cpu(maxima_args, count_args);
    EXPECT_EQ(maxima, (std::vector<float>{0, 1, 1, 0, 0, 2}));
    EXPECT_EQ(counts, (std::vector<std::int64_t>{1, 2})) << "a logit at the threshold is not below it";
  }
}

TEST(CudaSparsitySource, KeepsDamageVisible) {
  const CudaSparsityCase problem({ElementType::kFp32, 16, 1, 2, 100, 100, 1});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float damage : {nan, -nan, infinity}) {
    std::vector<std::byte> query = problem.numbers.query;
    testing::put(query.data(), ElementType::kFp32, (30 * 2 + 1) * problem.numbers.stride() + 3, damage);  // row 30 of head 1
    for (const bool reference : {false, true}) {
      CudaSparsityCase::Result result = problem.begun();
      CudaSparsityCase::Memory memory = problem.here(result, false);
      memory.query = query.data();
      const auto& run = reference ? run_reference : run_on_cpu;
      run(problem.maxima_args(memory, 2), problem.count_args(memory, 2));
      for (std::int64_t row = 0; row < 100; ++row) {
        const float highest = result.maxima[static_cast<std::size_t>(problem.stride() + row)];
        EXPECT_EQ(std::isfinite(highest), row != 30) << row;
        EXPECT_EQ(std::isnan(highest), row == 30 && std::isnan(damage)) << row;
        EXPECT_TRUE(std::isfinite(result.maxima[static_cast<std::size_t>(row)])) << "another head, row " << row;
      }
    }
  }
}

// Of either sign in any order, as thread blocks come; -0 beside negative numbers.
TEST(CudaSparsitySource, MemoryIsRaisedToTheGreatest) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> ascending = {-infinity, -3.5F, -1e-38F, 0.0F, 1e-38F, 2.0F, infinity};
  for (std::size_t a = 0; a < ascending.size(); ++a) {
    for (std::size_t b = 0; b < ascending.size(); ++b) {
      float memory = ascending[a];
      cuda::raise(&memory, ascending[b]);
      EXPECT_EQ(memory, ascending[std::max(a, b)]) << ascending[a] << " " << ascending[b];
    }
    float damaged = ascending[a];
    cuda::raise(&damaged, -nan);
    cuda::raise(&damaged, ascending[a]);
    EXPECT_TRUE(std::isnan(damaged)) << ascending[a];
  }
  float negative = -2.0F;
  cuda::raise(&negative, -0.0F);
  EXPECT_EQ(negative, 0.0F);
}

TEST(CudaSparsitySource, TilesHoldTheHeadsOfAFewRowsTogether) {
  const CudaSparsityCase problem({ElementType::kFp32, 8, 2, 7, 20, 1000, 981});
  CudaSparsityCase::Result result = problem.begun();
  const CudaRowMaximaArgs args = problem.maxima_args(problem.here(result, false), 4);
  const cuda::RowMaximaLaunch launch = cuda::plan_launch(args);
  EXPECT_EQ(launch.tiles, 3) << "140 rows of heads";
  EXPECT_EQ(launch.part_columns, 256);
  EXPECT_EQ(launch.parts, 4);
  EXPECT_EQ(launch.seen_by_first, 981);
  CudaRowMaximaArgs wide = args;
  wide.seen_by_first = std::int64_t{1} << 40;
  EXPECT_EQ(cuda::plan_launch(wide).seen_by_first, 1000);
  wide.parts = kMaxCudaGridSide;
  EXPECT_EQ(cuda::plan_launch(wide).parts, 16) << "none without columns";
}

TEST(CudaSparsitySource, RefusesBadArguments) {
  const CudaSparsityCase problem({ElementType::kFp32, 8, 2, 2, 4, 4, 1});
  CudaSparsityCase::Result result = problem.begun();
  const CudaSparsityCase::Memory memory = problem.here(result, false);
  const auto status = [&](const auto& change) {
    CudaRowMaximaArgs maxima = problem.maxima_args(memory, 1);
    CudaCountBelowArgs counts = problem.count_args(memory, 1);
    change(maxima);
    change(counts);
    const LaunchStatus checked = check_arguments(maxima);
    EXPECT_EQ(check_arguments(counts), checked);
    if (checked == LaunchStatus::kOk) return checked;
    EXPECT_EQ(cuda_row_maxima_reference(maxima), checked);
    EXPECT_EQ(cuda_count_below_reference(counts), checked);
    return checked;
  };
  EXPECT_EQ(status([](auto&) {}), LaunchStatus::kOk);
  EXPECT_EQ(status([](auto& args) { args.rows = 0; }), LaunchStatus::kOk);
  EXPECT_EQ(status([](auto& args) { args.query = nullptr; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](auto& args) { args.key = nullptr; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](auto& args) { args.maxima = nullptr; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](auto& args) { args.kv_heads = 0; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](auto& args) { args.group = 0; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](auto& args) { args.head_dim = 0; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](auto& args) { args.rows = -1; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](auto& args) { args.columns = -1; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](auto& args) { args.parts = 0; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](auto& args) { args.parts = kMaxCudaGridSide + 1; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](auto& args) { args.type = static_cast<ElementType>(9); }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](auto& args) { args.group = kMaxGroup + 1; }), LaunchStatus::kUnsupported);
  EXPECT_EQ(status([](auto& args) { args.head_dim = kMaxHeadDim + 1; }), LaunchStatus::kUnsupported);
  EXPECT_EQ(status([](auto& args) { args.kv_heads = 30000; }), LaunchStatus::kUnsupported);
  EXPECT_EQ(status([](auto& args) { args.rows = kMaxCudaLogitSide / 2 + 1; }), LaunchStatus::kUnsupported);
  EXPECT_EQ(status([](auto& args) { args.columns = kMaxCudaLogitSide + 1; }), LaunchStatus::kUnsupported);
  CudaCountBelowArgs counts = problem.count_args(memory, 1);
  counts.counts = nullptr;
  EXPECT_EQ(check_arguments(counts), LaunchStatus::kBadArgument);
}

}  // namespace
}  // namespace winnow::kernels
