// The CUDA kernels of entropies over some columns: their own source on CPU threads (cuda_on_cpu.h), against kernels/reference.
#include <gtest/gtest.h>

#include <limits>

#include "tests/kernels/cuda_on_cpu.h"

#include "kernels/cuda/cross_modal_entropy.cuh"
#include "kernels/reference/check_cross_modal_entropy.h"
#include "tests/kernels/cuda_cross_modal_case.h"

namespace winnow::kernels {
namespace {

using testing::CudaColumnsCase;
using testing::CudaCrossModalCase;

// As cuda_cross_modal_entropy() launches.
template <class T>
void look_on_cpu(const CudaCrossModalArgs& args) {
  const cuda::CrossModalLaunch launch = cuda::plan_launch(args);
  const bool vectors = cuda::reads_vectors<T>(args);
  const auto parts = static_cast<unsigned>(launch.parts);
  cuda::launch_on_cpu({static_cast<unsigned>(launch.tiles), static_cast<unsigned>(launch.kv_heads), parts}, cuda::kLogitThreads,
                      [&] { vectors ? cuda::sum_rows<T, cuda::kWidest<T>>(launch) : cuda::sum_rows<T, 1>(launch); });
  cuda::launch_on_cpu({(static_cast<unsigned>(launch.rows) + cuda::kJoinThreads - 1) / cuda::kJoinThreads,
                       static_cast<unsigned>(launch.kv_heads * launch.group), 1},
                      cuda::kJoinThreads, [&] { cuda::join_rows(launch); });
  cuda::launch_on_cpu({static_cast<unsigned>(launch.row_tiles), parts, 1}, cuda::kLogitThreads,
                      [&] { vectors ? cuda::add_entropies<T, cuda::kWidest<T>>(launch) : cuda::add_entropies<T, 1>(launch); });
  cuda::launch_on_cpu({1, 1, 1}, cuda::kJoinThreads, [&] { cuda::add_tiles(launch); });
}

void look_on_cpu(const CudaCrossModalArgs& args) {
  ASSERT_EQ(check_arguments(args), LaunchStatus::kOk);
  switch (args.type) {
    case ElementType::kFp32:
      return look_on_cpu<float>(args);
    case ElementType::kBf16:
      return look_on_cpu<cuda::Bf16>(args);
    case ElementType::kFp16:
      return look_on_cpu<cuda::Fp16>(args);
  }
}

constexpr double kBehindWorkspace = 12345.0;  // stands behind the workspace

double entropy_of(const CudaCrossModalCase& problem, std::int64_t parts, bool causal, bool mean_first) {
  double entropy = CudaCrossModalCase::kBegun;
  CudaCrossModalArgs args = problem.args(problem.here(entropy, nullptr, causal), parts, mean_first);
  const std::int64_t bytes = cuda_cross_modal_workspace(args);
  std::vector<double> workspace(static_cast<std::size_t>(bytes) / 8 + 2, kBehindWorkspace);
  args.workspace = workspace.data();
  look_on_cpu(args);
  EXPECT_EQ(workspace.back(), kBehindWorkspace) << "beyond the workspace";
  return entropy;
}

void expect_entropy(const CudaColumnsCase::Shape& shape, std::int64_t parts) {
  const CudaCrossModalCase problem(shape);
  for (const auto& [causal, mean_first] : {std::pair(false, true), std::pair(true, false)}) {
    SCOPED_TRACE(::testing::Message() << shape.name() << " parts " << parts << (mean_first ? " mean first" : " causal"));
    problem.expect_near(entropy_of(problem, parts, causal, mean_first), causal, mean_first);
  }
}

TEST(CudaCrossModalSource, EqualsTheReferenceForEveryTypeAndHeadSize) {
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

TEST(CudaCrossModalSource, EqualsTheReferenceForEverySizeAndGroup) {
  for (CudaColumnsCase::Shape size : {CudaColumnsCase::Shape{.rows = 1, .columns = 1},
                                      {.rows = 200, .columns = 200},
                                      {.rows = 193, .columns = 3},
                                      {.rows = 4, .columns = 400}}) {
    for (std::int64_t group = 1; group <= (size.rows == 200 ? 3 : 2); ++group) {
      CudaColumnsCase::Shape shape = size;
      shape.group = group;
      shape.head_dim = 24;
      shape.type = group % 2 == 0 ? ElementType::kBf16 : ElementType::kFp32;
      expect_entropy(shape, group % 2 == 0 ? 3 : 1);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(CudaCrossModalSource, TakesAsManyQueryHeadsAsAllowed) { expect_entropy({ElementType::kFp32, 8, 1, kMaxGroup, 7, 5, 1}, 1); }

// Keys of zeros: every row looks at all of its columns alike.
TEST(CudaCrossModalSource, OfEvenAttentionIsKnownByHand) {
  CudaCrossModalCase problem({ElementType::kFp16, 16, 2, 3, 100, 300, 1});
  std::vector<std::byte> key(problem.numbers.key.size());
  for (const bool mean_first : {false, true}) {
    double entropy = 0.0;
    CudaCrossModalArgs args = problem.args(problem.here(entropy, nullptr, false), 2, mean_first);
    args.key = key.data();
    std::vector<double> workspace(static_cast<std::size_t>(cuda_cross_modal_workspace(args)) / 8 + 1);
    args.workspace = workspace.data();
    look_on_cpu(args);
    EXPECT_NEAR(entropy, 34.0 * std::log(200.0), 1e-3);
  }
}

// Two heads that look at one column each, another one: no head is in doubt, and their mean is.
TEST(CudaCrossModalSource, TheMeanOverHeadsComesBeforeTheLogarithmWhereItIsAsked) {
  const std::vector<float> query = {100, -100};  // one row, two heads
  const std::vector<float> key = {1, -1};
  const std::int32_t numbers[] = {0, 1};
  for (const bool mean_first : {false, true}) {
    double by_kernel = 0.0, by_reference = 0.0;
    std::vector<double> workspace(64);
    CudaCrossModalArgs args;
    args.query = query.data();
    args.query_head_stride = 1;
    args.kv_heads = 1;
    args.group = 2;
    args.rows = 1;
    args.key = key.data();
    args.key_row_stride = 1;
    args.columns = 2;
    args.head_dim = 1;
    args.seen_by_first = 2;
    args.row_of = numbers;
    args.column_of = numbers;
    args.mean_first = mean_first;
    args.entropy = &by_kernel;
    args.workspace = workspace.data();
    look_on_cpu(args);
    args.entropy = &by_reference;
    ASSERT_EQ(cuda_cross_modal_entropy_reference(args), LaunchStatus::kOk);
    EXPECT_NEAR(by_kernel, mean_first ? std::log(2.0) : 0.0, 1e-6);
    EXPECT_NEAR(by_reference, mean_first ? std::log(2.0) : 0.0, 1e-12);
  }
}

TEST(CudaCrossModalSource, KeepsDamageVisible) {
  const CudaCrossModalCase problem({ElementType::kFp32, 16, 1, 2, 100, 100, 1});
  for (const float damage : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<std::byte> query = problem.numbers.query;
    testing::put(query.data(), ElementType::kFp32, (30 * 2 + 1) * problem.numbers.stride() + 3, damage);  // row 30 of head 1
    for (const bool mean_first : {false, true}) {
      double entropy = 0.0;
      CudaCrossModalArgs args = problem.args(problem.here(entropy, nullptr, false), 2, mean_first);
      args.query = query.data();
      std::vector<double> workspace(static_cast<std::size_t>(cuda_cross_modal_workspace(args)) / 8 + 1);
      args.workspace = workspace.data();
      look_on_cpu(args);
      EXPECT_TRUE(std::isnan(entropy)) << damage;
      entropy = 0.0;
      ASSERT_EQ(cuda_cross_modal_entropy_reference(args), LaunchStatus::kOk);
      EXPECT_TRUE(std::isnan(entropy)) << damage;
    }
  }
}

TEST(CudaCrossModalSource, RefusesBadArguments) {
  const CudaCrossModalCase problem({ElementType::kFp32, 8, 2, 2, 4, 4, 1});
  double entropy = 0.0;
  std::vector<double> workspace(64);
  const auto status = [&](const auto& change) {
    CudaCrossModalArgs args = problem.args(problem.here(entropy, workspace.data(), true), 1, true);
    change(args);
    const LaunchStatus checked = check_arguments(args);
    if (checked == LaunchStatus::kOk) return checked;
    EXPECT_EQ(cuda_cross_modal_entropy_reference(args), checked);
    return checked;
  };
  using Args = CudaCrossModalArgs;
  EXPECT_EQ(status([](Args&) {}), LaunchStatus::kOk);
  EXPECT_EQ(status([](Args& args) { args.seen = nullptr; }), LaunchStatus::kOk);
  EXPECT_EQ(status([](Args& args) { args.rows = 0; }), LaunchStatus::kOk);
  EXPECT_EQ(status([](Args& args) { args.query = nullptr; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](Args& args) { args.row_of = nullptr; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](Args& args) { args.column_of = nullptr; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](Args& args) { args.entropy = nullptr; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](Args& args) { args.workspace = nullptr; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](Args& args) { args.workspace = static_cast<char*>(args.workspace) + 4; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](Args& args) { args.parts = 0; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](Args& args) { args.head_dim = 0; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](Args& args) { args.head_dim = kMaxHeadDim + 1; }), LaunchStatus::kUnsupported);
  EXPECT_EQ(status([](Args& args) { args.rows = kMaxCudaLogitSide / 2 + 1; }), LaunchStatus::kUnsupported);
}

}  // namespace
}  // namespace winnow::kernels
