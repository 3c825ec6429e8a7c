// Merging on a GPU against kernels/reference. Skips where no device is; cuda_merging_source_test.cpp runs the kernels' source everywhere.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/kernels/device_memory.h"
#include "tests/kernels/merging_case.h"
#include "tests/kernels/on_cuda_device.h"

namespace winnow::kernels {
namespace {

using testing::DeviceMemory;
using testing::MergeCase;
using testing::NearestCase;

class CudaMerging : public testing::OnCudaDevice {};

NearestCase::Result nearest_on_device(const NearestCase& problem, std::int64_t parts) {
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
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  return {similarity.copy<float>(), nearest.copy<std::int32_t>()};
}

void expect_over_parts(const NearestCase::Shape& shape) {
  const NearestCase problem(shape);
  for (const std::int64_t parts : {1, 3, 16}) {
    SCOPED_TRACE(::testing::Message() << shape.name() << " parts " << parts);
    problem.expect_near(nearest_on_device(problem, parts));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST_F(CudaMerging, NearestRowsAreTheReferencesOverTheGrid) {
  for (const std::int64_t width : {1, 5, 36, 64, 80, 128, 130, 256, 512}) {
    for (const std::int64_t asking : {1, 64, 65, 700}) {
      for (const std::int64_t among : {1, 3, 64, 65, 200, 1000}) {
        if (asking * among * width > 10'000'000) continue;  // the reference would take minutes
        for (const bool both : {false, true}) {
          expect_over_parts({width, asking, among, both, width % 3});
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_F(CudaMerging, NearestRowsOf16BitsAreTheReferencesOverTheGrid) {
  for (const ElementType type : {ElementType::kBf16, ElementType::kFp16}) {
    for (const std::int64_t width : {5, 16, 64, 80, 128, 256, 320}) {
      for (const std::int64_t asking : {1, 128, 129, 300}) {
        for (const std::int64_t among : {3, 64, 65, 200}) {
          if (asking * among * width > 2'000'000) continue;
          for (const bool both : {false, true}) {
            expect_over_parts({width, asking, among, both, width == 16 ? 3 : 0, type});
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST_F(CudaMerging, NearestRowsOfTheSameInputsAreTheSameBits) {
  for (const ElementType type : testing::kEveryElementType) {
    for (const bool both : {false, true}) {
      const NearestCase problem({128, 3000, 1500, both, 0, type});
      SCOPED_TRACE(problem.shape.name());
      const NearestCase::Result first = nearest_on_device(problem, 8);
      const NearestCase::Result second = nearest_on_device(problem, 8);
      EXPECT_EQ(first.similarity, second.similarity);
      EXPECT_EQ(first.nearest, second.nearest);
      const NearestCase::Result whole = nearest_on_device(problem, 1);
      EXPECT_EQ(first.similarity, whole.similarity) << "parts change nothing";
      EXPECT_EQ(first.nearest, whole.nearest);
    }
  }
}

TEST_F(CudaMerging, WhatIsNoNumberIsNearest) {
  for (const ElementType type : testing::kEveryElementType) {
    NearestCase problem({64, 3, 130, false, 0, type});
    SCOPED_TRACE(problem.shape.name());
    for (const std::size_t damaged : {100, 70}) problem.set(problem.first, problem.among[damaged], 2, std::nanf(""));
    const NearestCase::Result result = nearest_on_device(problem, 2);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(std::isnan(result.similarity[i]));
      EXPECT_EQ(result.nearest[i], 70);
    }
  }
}

TEST_F(CudaMerging, MergedRowsAreTheReferencesToTheBit) {
  for (const std::int64_t width : {1, 5, 64, 128, 130, 512}) {
    for (const std::int64_t count : {1, 2, 40, 3000}) {
      SCOPED_TRACE(::testing::Message() << "width " << width << " count " << count);
      const MergeCase problem(width, 500, count, width % 2);
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
}  // namespace winnow::kernels
