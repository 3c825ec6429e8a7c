// The CUDA kernels of merging: their own source on CPU threads (cuda_on_cpu.h), against kernels/reference.
#include "tests/kernels/cuda_on_cpu.h"

#include <gtest/gtest.h>

#include <limits>

#include "kernels/cuda/for_type.h"
#include "kernels/cuda/merge_rows.cuh"
#include "kernels/cuda/nearest_rows_matrix.cuh"
#include "kernels/reference/check_merging.h"
#include "tests/kernels/merging_case.h"

namespace winnow::kernels {
namespace {

using testing::MergeCase;
using testing::NearestCase;

unsigned blocks_of(std::int64_t rows, std::int64_t share) { return static_cast<unsigned>((rows + share - 1) / share); }

// As cuda_nearest_rows() launches.
template <class T>
void compare_on_cpu(const CudaNearestRowsArgs& args, const cuda::NearestLaunch& launch) {
  const auto parts = static_cast<unsigned>(launch.parts);
  if constexpr (sizeof(T) == 2) {
    if (cuda::fits_tensor_cores<T>(args)) {
      cuda::for_near_chunks(args, [&](auto chunks, auto arrays) {
        cuda::launch_on_cpu({blocks_of(args.asking_count, cuda::kNearStrips), parts, 1}, cuda::kNearThreads,
                            [&] { cuda::compare_by_matrix<T, decltype(chunks)::value, decltype(arrays)::value>(launch); });
      });
      return;
    }
  }
  cuda::launch_on_cpu({blocks_of(args.asking_count, cuda::kNearTile), parts, 1}, cuda::kNearThreads, [&] {
    cuda::reads_vectors<T>(args) ? cuda::compare_rows<T, cuda::kWidest<T>>(launch) : cuda::compare_rows<T, 1>(launch);
  });
}

// Likewise.
NearestCase::Result nearest_on_cpu(const NearestCase& problem, std::int64_t parts) {
  constexpr float kGuard = 12345.0F;  // stands behind the workspace
  NearestCase::Result result = problem.result();
  CudaNearestRowsArgs args = problem.args(result, nullptr, parts);
  std::vector<float> workspace(static_cast<std::size_t>(cuda_nearest_rows_workspace(args)) + 1, kGuard);
  args.workspace = workspace.data();
  EXPECT_EQ(check_arguments(args), LaunchStatus::kOk);
  const cuda::NearestLaunch launch = cuda::plan_launch(args);
  cuda::for_type(args.type, [&](auto element) {
    using T = decltype(element);
    cuda::launch_on_cpu({blocks_of(args.asking_count + args.among_count, cuda::kNearThreads / 32), args.second != nullptr ? 2U : 1U, 1},
                        cuda::kNearThreads, [&] { cuda::measure_rows<T>(launch); });
    compare_on_cpu<T>(args, launch);
  });
  cuda::launch_on_cpu({blocks_of(args.asking_count, cuda::kNearThreads), 1, 1}, cuda::kNearThreads, [&] { cuda::join_nearest(launch); });
  EXPECT_EQ(workspace.back(), kGuard) << "beyond the workspace";
  return result;
}

void expect_nearest(const NearestCase::Shape& shape, std::int64_t parts) {
  SCOPED_TRACE(::testing::Message() << shape.name() << " parts " << parts);
  const NearestCase problem(shape);
  problem.expect_near(nearest_on_cpu(problem, parts));
}

TEST(CudaNearestRows, AreTheReferencesForEveryWidth) {
  for (const std::int64_t width : {1, 5, 32, 36, 64, 80, 130}) {
    for (const std::int64_t room : {0, 3, 4}) {
      expect_nearest({width, 20, 70, width % 3 == 0, room}, 1);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(CudaNearestRows, AreTheReferencesForEveryCount) {
  for (const std::int64_t asking : {1, 64, 65, 130}) {
    for (const std::int64_t among : {1, 3, 64, 65, 200}) {
      for (const std::int64_t parts : {1, 3}) {
        expect_nearest({20, asking, among, asking == 65}, parts);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// 16 bits: every version of the tensor cores', and what they do not take.
TEST(CudaNearestRows, Of16BitsAreTheReferencesForEveryWidth) {
  for (const ElementType type : {ElementType::kBf16, ElementType::kFp16}) {
    for (const bool both : {false, true}) {
      for (const std::int64_t width : {5, 8, 64, 80, 128, 136, 256, 264}) {
        expect_nearest({width, 40, 70, both, 0, type}, 1);
        expect_nearest({width, 3, 66, both, width % 16 == 0 ? 8 : 3, type}, 1);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(CudaNearestRows, Of16BitsAreTheReferencesForEveryCount) {
  for (const std::int64_t asking : {1, 128, 129}) {
    for (const std::int64_t among : {1, 3, 64, 65, 200}) {
      for (const std::int64_t parts : {1, 3}) {
        expect_nearest({16, asking, among, asking == 129, 0, ElementType::kBf16}, parts);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Everything is the same: no place in a tile is preferred.
TEST(CudaNearestRows, OfTheSameTheFirstIsNearest) {
  for (const ElementType type : testing::kEveryElementType) {
    for (const std::int64_t parts : {1, 2}) {
      NearestCase problem({64, 33, 140, true, 0, type});
      std::fill(problem.asking.begin(), problem.asking.end(), problem.asking[0]);
      std::fill(problem.among.begin(), problem.among.end(), problem.among[0]);
      EXPECT_EQ(nearest_on_cpu(problem, parts).nearest, std::vector<std::int32_t>(33, 0)) << problem.shape.name();
    }
  }
}

TEST(CudaNearestRows, WhatIsNoNumberIsNearest) {
  for (const ElementType type : testing::kEveryElementType) {
    for (const std::int64_t parts : {1, 2}) {
      NearestCase problem({8, 3, 130, false, 0, type});
      for (const std::size_t damaged : {100, 70}) {
        problem.set(problem.first, problem.among[damaged], 2, std::numeric_limits<float>::quiet_NaN());
      }
      const NearestCase::Result result = nearest_on_cpu(problem, parts);
      for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_TRUE(std::isnan(result.similarity[i]));
        EXPECT_EQ(result.nearest[i], 70);
      }
      NearestCase::Result expected = problem.result();
      float unused = 0.0F;
      ASSERT_EQ(cuda_nearest_rows_reference(problem.args(expected, &unused, 1)), LaunchStatus::kOk);
      EXPECT_EQ(result.nearest, expected.nearest);
    }
  }
}

// (3, 4) asks (4, 3), (0, 0), (-3, -4) and (6, 8), the second time with values that say the opposite; zeros behind them.
void expect_known(ElementType type, std::int64_t width) {
  NearestCase problem({width, 1, 4, true, 0, type});
  const float keys[] = {3, 4, 4, 3, 0, 0, -3, -4, 6, 8};
  const float values[] = {1, 0, 1, 0, 1, 0, -1, 0, 0, 1};
  for (std::int64_t i = 0; i < 5 * width; ++i) {
    problem.set(problem.first, i / width, i % width, i % width < 2 ? keys[i / width * 2 + i % width] : 0.0F);
    problem.set(problem.second, i / width, i % width, i % width < 2 ? values[i / width * 2 + i % width] : 0.0F);
  }
  problem.asking = {0};
  problem.among = {1, 2, 3, 4};
  const NearestCase::Result both = nearest_on_cpu(problem, 1);
  EXPECT_EQ(both.nearest[0], 2) << "minus one times minus one";
  EXPECT_NEAR(both.similarity[0], 1.0, 1e-6);
  problem.among = {1, 2, 4, 3};
  EXPECT_EQ(nearest_on_cpu(problem, 1).nearest[0], 3);
  NearestCase alone({width, 1, 4, false, 0, type});
  alone.first = problem.first;
  alone.asking = problem.asking;
  alone.among = {1, 2, 3, 4};
  EXPECT_EQ(nearest_on_cpu(alone, 1).nearest[0], 3);
  alone.among = {2, 3, 1, 2};
  EXPECT_EQ(nearest_on_cpu(alone, 1).nearest[0], 2);
  EXPECT_NEAR(nearest_on_cpu(alone, 1).similarity[0], 0.96, 1e-6);
}

TEST(CudaNearestRows, AreKnownByHand) {
  for (const ElementType type : testing::kEveryElementType) {
    for (const std::int64_t width : {2, 16}) {
      SCOPED_TRACE(::testing::Message() << "type " << static_cast<int>(type) << " width " << width);
      expect_known(type, width);
    }
  }
}

TEST(CudaNearestRows, PartsFillTheDeviceAndAreWholeTiles) {
  EXPECT_EQ(cuda_nearest_rows_parts(64 * 5000, 20000, 132), 1);
  EXPECT_EQ(cuda_nearest_rows_parts(64 * 400, 20000, 132), 11);
  EXPECT_EQ(cuda_nearest_rows_parts(6400, 20000, 132), 43);
  EXPECT_EQ(cuda_nearest_rows_parts(640, 130, 132), 3);
  EXPECT_EQ(cuda_nearest_rows_parts(0, 1, 132), 1);
  EXPECT_EQ(cuda_nearest_rows_parts(1, 1 << 30, 1 << 20), kMaxNearestParts);
  const NearestCase problem({8, 3, 300});
  NearestCase::Result result = problem.result();
  const cuda::NearestLaunch launch = cuda::plan_launch(problem.args(result, nullptr, 4));
  EXPECT_EQ(launch.part_rows, 128);
  EXPECT_EQ(launch.parts, 3) << "none without rows";
}

TEST(CudaNearestRows, RefuseBadArguments) {
  const NearestCase problem({8, 3, 9, true});
  NearestCase::Result result = problem.result();
  std::vector<float> workspace(1000);
  const CudaNearestRowsArgs good = problem.args(result, workspace.data(), 1);
  const auto expect = [&](LaunchStatus status, const auto& change) {
    CudaNearestRowsArgs args = good;
    change(args);
    EXPECT_EQ(check_arguments(args), status);
    if (status == LaunchStatus::kOk) return;
    EXPECT_EQ(cuda_nearest_rows_reference(args), status);
  };
  expect(LaunchStatus::kOk, [](auto&) {});
  expect(LaunchStatus::kOk, [](auto& a) { a.second = nullptr; });
  expect(LaunchStatus::kOk, [](auto& a) { a.asking_count = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.type = static_cast<ElementType>(0); });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.first = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.asking = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.among = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.similarity = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.nearest = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.workspace = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.width = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.asking_count = -1; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.among_count = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.parts = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.parts = kMaxNearestParts + 1; });
  expect(LaunchStatus::kUnsupported, [](auto& a) { a.width = kMaxNearestRows + 1; });
  expect(LaunchStatus::kUnsupported, [](auto& a) { a.asking_count = kMaxNearestRows + 1; });
  expect(LaunchStatus::kUnsupported, [](auto& a) { a.among_count = kMaxNearestRows + 1; });
}

TEST(CudaMergeRows, AreTheReferencesToTheBit) {
  for (const std::int64_t width : {1, 5, 64, 130, 300}) {
    for (const std::int64_t count : {1, 2, 40}) {
      SCOPED_TRACE(::testing::Message() << "width " << width << " count " << count);
      const MergeCase problem(width, 50, count, width % 2);
      std::vector<float> output = problem.untouched();
      const CudaMergeRowsArgs args = problem.args(problem.data.data(), problem.stay.data(), output.data());
      ASSERT_EQ(check_arguments(args), LaunchStatus::kOk);
      cuda::launch_on_cpu({static_cast<unsigned>(count), 1, 1}, cuda::kMergeThreads, [&] { cuda::merge_rows(args); });
      EXPECT_EQ(output, problem.expected);
    }
  }
}

// Row 2 stays as it is; row 0 takes half of itself, row 1 and twice row 2, divided by 4.
TEST(CudaMergeRows, AreKnownByHand) {
  const float rows[] = {2, 4, 10, 20, 100, 200};
  const std::int32_t stay[] = {2, 0};
  const std::int32_t begin[] = {0, 0, 2};
  const std::int32_t from[] = {1, 2};
  const float own[] = {1, 0.5F};
  const float divisor[] = {1, 4};
  const float weight[] = {1, 2};
  float output[4] = {};
  CudaMergeRowsArgs args;
  args.rows = rows;
  args.row_stride = args.width = 2;
  args.stay = stay;
  args.count = 2;
  args.own = own;
  args.divisor = divisor;
  args.begin = begin;
  args.from = from;
  args.weight = weight;
  args.output = output;
  ASSERT_EQ(cuda_merge_rows_reference(args), LaunchStatus::kOk);
  const float expected[] = {100, 200, 211.0F / 4, 422.0F / 4};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(output[i], expected[i]) << i;

  const auto expect = [&](LaunchStatus status, const auto& change) {
    CudaMergeRowsArgs bad = args;
    change(bad);
    EXPECT_EQ(cuda_merge_rows_reference(bad), status);
  };
  expect(LaunchStatus::kOk, [](auto& a) { a.count = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.rows = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.stay = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.own = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.divisor = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.begin = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.from = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.output = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.width = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.count = -1; });
  expect(LaunchStatus::kUnsupported, [](auto& a) { a.count = kMaxMergedRows + 1; });
}

}  // namespace
}  // namespace winnow::kernels
