// Nearest rows and merged rows against their references.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/kernels/cuda/runner.h"
#include "tests/kernels/device_memory.h"
#include "tests/kernels/merging_case.h"

namespace winnow::kernels::testing {
namespace {

class CudaMerging : public testing::OnRunner {};

NearestCase::Result nearest_of(const NearestCase& problem, std::int64_t parts) {
  const NearestCase::Result untouched = problem.result();
  const DeviceMemory first(problem.first);
  const DeviceMemory second(problem.second);
  const DeviceMemory asking(problem.asking);
  const DeviceMemory among(problem.among);
  const DeviceMemory similarity(untouched.similarity);
  const DeviceMemory nearest(untouched.nearest);
  CudaNearestRowsArgs args = problem.args({first.bytes(), second.bytes(), asking.as<std::int32_t>(), among.as<std::int32_t>(),
                                           similarity.as<float>(), nearest.as<std::int32_t>(), nullptr},
                                          parts);
  const DeviceMemory workspace(std::vector<float>(static_cast<std::size_t>(cuda_nearest_rows_workspace(args)), 1e30F));
  args.workspace = workspace.as<float>();
  EXPECT_EQ(cuda_nearest_rows(args, nullptr), LaunchStatus::kOk);
  return {similarity.copy<float>(), nearest.copy<std::int32_t>()};
}

void expect_nearest(const NearestCase::Shape& shape, const std::vector<std::int64_t>& splits) {
  const NearestCase problem(shape);
  for (const std::int64_t parts : splits) {
    SCOPED_TRACE(::testing::Message() << shape.name() << " parts " << parts);
    problem.expect_near(nearest_of(problem, parts));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST_F(CudaMerging, NearestRowsAreTheReferencesForEveryWidth) {
  for (const std::int64_t width : {1, 5, 32, 36, 64, 80, 130}) {
    for (const std::int64_t room : {0, 3, 4}) {
      expect_nearest({width, 20, 70, width % 3 == 0, room}, {1});
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(CudaMerging, NearestRowsAreTheReferencesForEveryCount) {
  for (const std::int64_t asking : {1, 64, 65, 130}) {
    for (const std::int64_t among : {1, 3, 64, 65, 200}) {
      expect_nearest({20, asking, among, asking == 65}, {1, 3});
      if (HasFatalFailure()) return;
    }
  }
}

// 16 bits: every version of the tensor cores', and what they do not take.
TEST_F(CudaMerging, NearestRowsOf16BitsAreTheReferencesForEveryWidth) {
  for (const ElementType type : {ElementType::kBf16, ElementType::kFp16}) {
    for (const bool both : {false, true}) {
      for (const std::int64_t width : {5, 8, 64, 80, 128, 136, 256, 264}) {
        expect_nearest({width, 40, 70, both, 0, type}, {1});
        expect_nearest({width, 3, 66, both, width % 16 == 0 ? 8 : 3, type}, {1});
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(CudaMerging, NearestRowsOf16BitsAreTheReferencesForEveryCount) {
  for (const std::int64_t asking : {1, 128, 129}) {
    for (const std::int64_t among : {1, 3, 64, 65, 200}) {
      expect_nearest({16, asking, among, asking == 129, 0, ElementType::kBf16}, {1, 3});
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(CudaMerging, OnACardNearestRowsAreTheReferencesOverTheGrid) {
  if (!testing::runs_on_card()) GTEST_SKIP() << "too much for fibers";
  const std::vector<std::int64_t> splits = {1, 3, 16};
  for (const ElementType type : testing::kEveryElementType) {
    const bool wide = type == ElementType::kFp32;
    for (const std::int64_t width : {1, 5, 16, 36, 64, 80, 128, 130, 256, 320, 512}) {
      for (const std::int64_t asking : {1, 65, 129, 700}) {
        for (const std::int64_t among : {1, 3, 64, 65, 200, 1000}) {
          if (asking * among * width > (wide ? 10'000'000 : 2'000'000)) continue;  // the reference would take minutes
          for (const bool both : {false, true}) {
            expect_nearest({width, asking, among, both, wide ? width % 3 : width == 16 ? 3 : 0, type}, splits);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

// Everything is the same: no place in a tile is preferred.
TEST_F(CudaMerging, OfTheSameRowsTheFirstIsNearest) {
  for (const ElementType type : testing::kEveryElementType) {
    for (const std::int64_t parts : {1, 2}) {
      NearestCase problem({64, 33, 140, true, 0, type});
      std::fill(problem.asking.begin(), problem.asking.end(), problem.asking[0]);
      std::fill(problem.among.begin(), problem.among.end(), problem.among[0]);
      EXPECT_EQ(nearest_of(problem, parts).nearest, std::vector<std::int32_t>(33, 0)) << problem.shape.name();
    }
  }
}

TEST_F(CudaMerging, NearestRowsOfTheSameInputsAreTheSameBits) {
  for (const ElementType type : testing::kEveryElementType) {
    for (const bool both : {false, true}) {
      const NearestCase problem(testing::runs_on_card() ? NearestCase::Shape{128, 3000, 1500, both, 0, type}
                                                        : NearestCase::Shape{64, 30, 150, both, 0, type});
      SCOPED_TRACE(problem.shape.name());
      const NearestCase::Result first = nearest_of(problem, 8);
      const NearestCase::Result second = nearest_of(problem, 8);
      EXPECT_EQ(first.similarity, second.similarity);
      EXPECT_EQ(first.nearest, second.nearest);
      const NearestCase::Result whole = nearest_of(problem, 1);
      EXPECT_EQ(first.similarity, whole.similarity) << "parts change nothing";
      EXPECT_EQ(first.nearest, whole.nearest);
    }
  }
}

TEST_F(CudaMerging, NanIsNearest) {
  for (const ElementType type : testing::kEveryElementType) {
    for (const std::int64_t width : {8, 64}) {
      for (const std::int64_t parts : {1, 2}) {
        NearestCase problem({width, 3, 130, false, 0, type});
        for (const std::size_t damaged : {100, 70}) {
          problem.set(problem.first, problem.among[damaged], 2, std::numeric_limits<float>::quiet_NaN());
        }
        const NearestCase::Result result = nearest_of(problem, parts);
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
}

// (3, 4) asks (4, 3), (0, 0), (-3, -4) and (6, 8), the second time with values that say the opposite; zeros behind them.
void expect_known_nearest(ElementType type, std::int64_t width) {
  NearestCase problem({width, 1, 4, true, 0, type});
  const float keys[] = {3, 4, 4, 3, 0, 0, -3, -4, 6, 8};
  const float values[] = {1, 0, 1, 0, 1, 0, -1, 0, 0, 1};
  for (std::int64_t i = 0; i < 5 * width; ++i) {
    problem.set(problem.first, i / width, i % width, i % width < 2 ? keys[i / width * 2 + i % width] : 0.0F);
    problem.set(problem.second, i / width, i % width, i % width < 2 ? values[i / width * 2 + i % width] : 0.0F);
  }
  problem.asking = {0};
  problem.among = {1, 2, 3, 4};
  const NearestCase::Result both = nearest_of(problem, 1);
  EXPECT_EQ(both.nearest[0], 2) << "minus one times minus one";
  EXPECT_NEAR(both.similarity[0], 1.0, 1e-6);
  problem.among = {1, 2, 4, 3};
  EXPECT_EQ(nearest_of(problem, 1).nearest[0], 3);
  NearestCase alone({width, 1, 4, false, 0, type});
  alone.first = problem.first;
  alone.asking = problem.asking;
  alone.among = {1, 2, 3, 4};
  EXPECT_EQ(nearest_of(alone, 1).nearest[0], 3);
  alone.among = {2, 3, 1, 2};
  EXPECT_EQ(nearest_of(alone, 1).nearest[0], 2);
  EXPECT_NEAR(nearest_of(alone, 1).similarity[0], 0.96, 1e-6);
}

TEST_F(CudaMerging, NearestRowsAreKnownByHand) {
  for (const ElementType type : testing::kEveryElementType) {
    for (const std::int64_t width : {2, 16}) {
      SCOPED_TRACE(::testing::Message() << "type " << static_cast<int>(type) << " width " << width);
      expect_known_nearest(type, width);
    }
  }
}

TEST_F(CudaMerging, MergedRowsAreTheReferencesToTheBit) {
  for (const std::int64_t width : grid_of({1, 5, 64, 130, 300}, {128, 512})) {
    for (const std::int64_t count : grid_of({1, 2, 40}, {3000})) {
      SCOPED_TRACE(::testing::Message() << "width " << width << " count " << count);
      const MergeCase problem(width, testing::runs_on_card() ? 500 : 50, count, width % 2);
      const DeviceMemory rows(problem.data);
      const DeviceMemory stay(problem.stay);
      const DeviceMemory own(problem.own);
      const DeviceMemory divisor(problem.divisor);
      const DeviceMemory begin(problem.begin);
      const DeviceMemory from(problem.from);
      const DeviceMemory weight(problem.weight);
      const DeviceMemory output(problem.untouched());
      CudaMergeRowsArgs args = problem.args(rows.as<float>(), stay.as<std::int32_t>(), output.as<float>());
      args.own = own.as<float>();
      args.divisor = divisor.as<float>();
      args.begin = begin.as<std::int32_t>();
      args.from = from.as<std::int32_t>();
      args.weight = weight.as<float>();
      ASSERT_EQ(cuda_merge_rows(args, nullptr), LaunchStatus::kOk);
      EXPECT_EQ(output.copy<float>(), problem.expected);
    }
  }
}

}  // namespace
}  // namespace winnow::kernels::testing
