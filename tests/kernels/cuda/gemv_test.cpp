// Products of a row and a dense matrix against their reference.
#include <gtest/gtest.h>

#include <vector>

#include "tests/kernels/cuda/runner.h"
#include "tests/kernels/device_memory.h"
#include "tests/kernels/gated_case.h"
#include "tests/kernels/gemv_case.h"

namespace winnow::kernels::testing {
namespace {

class CudaGemv : public testing::OnRunner {};

std::vector<std::byte> row_times_matrix(const GemvCase& problem) {
  const DeviceMemory matrix(problem.matrix);
  const DeviceMemory input(problem.input);
  const DeviceMemory bias(problem.bias);
  const DeviceMemory output(problem.untouched);
  EXPECT_EQ(cuda_gemv(problem.args(matrix.bytes(), input.bytes(), bias.bytes(), output.bytes()), nullptr), LaunchStatus::kOk);
  return output.copy<std::byte>();
}

void expect_row_times_matrix(const GemvCase::Shape& shape) {
  SCOPED_TRACE(shape.name());
  const GemvCase problem(shape);
  problem.expect_near(row_times_matrix(problem));
}

TEST_F(CudaGemv, EqualsTheReferenceOverTheGrid) {
  for (GemvCase::Shape shape : testing::gemv_types()) {
    for (const std::int64_t columns : grid_of({8, 264, 896}, {4864, 18'944})) {
      for (const std::int64_t rows : grid_of({1, 2, 33}, {150})) {
        shape.columns = columns;
        shape.rows = rows;
        shape.bias = rows != 33;
        expect_row_times_matrix(shape);
        if (HasFatalFailure()) return;
      }
    }
  }
  if (!testing::runs_on_card()) return;
  expect_row_times_matrix({ElementType::kBf16, ElementType::kFp32, 151'936, 16});  // a head's many rows
  expect_row_times_matrix({ElementType::kBf16, ElementType::kBf16, 6200, 1072});   // blocks enough for every multiprocessor
}

TEST_F(CudaGemv, GatedEqualsTheReference) {
  for (const ElementType type : testing::kEveryElementType) {
    for (const Activation activation : testing::kEveryActivation) {
      for (const std::int64_t rows : grid_of({1, 33}, {150})) expect_row_times_matrix({type, type, rows, 896, rows != 33, activation});
    }
    if (HasFatalFailure() || !testing::runs_on_card()) continue;
    expect_row_times_matrix({type, type, 4864, 264, true, Activation::kSilu});
    expect_row_times_matrix({type, type, 150, 4864, false, Activation::kGelu});
  }
}

TEST_F(CudaGemv, OfTheSameInputsIsTheSameBits) {
  for (const std::int64_t rows : grid_of({150}, {6200})) {
    const GemvCase problem({ElementType::kBf16, ElementType::kFp32, rows, 1072, true});
    EXPECT_EQ(row_times_matrix(problem), row_times_matrix(problem)) << rows;
  }
}

}  // namespace
}  // namespace winnow::kernels::testing
