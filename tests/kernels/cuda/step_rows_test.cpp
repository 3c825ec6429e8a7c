// What stands between a decode step's products, against the references: gated activations, norms, rotary embedding; and a chain of
// launches that overlap.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/api/cuda_gemv.h"
#include "tests/kernels/cuda/runner.h"
#include "tests/kernels/device_memory.h"
#include "tests/kernels/gated_case.h"
#include "tests/kernels/gemv_case.h"
#include "tests/kernels/norm_case.h"
#include "tests/kernels/rotary_case.h"

namespace winnow::kernels::testing {
namespace {

class CudaStepRows : public testing::OnRunner {};

TEST_F(CudaStepRows, GatedActivationsEqualTheReference) {
  for (const Activation activation : testing::kEveryActivation) {
    for (const ElementType type : testing::kEveryElementType) {
      for (const std::int64_t columns : grid_of({1, 36, 1032}, {4864, 9999})) {  // vectors fit into 36 of fp32 alone, and into 1032
        SCOPED_TRACE(::testing::Message() << static_cast<int>(activation) << " type " << static_cast<int>(type) << " columns " << columns);
        const testing::GatedCase problem(activation, type, testing::runs_on_card() ? 5 : 2, columns);
        const DeviceMemory both(problem.both);
        const DeviceMemory output(std::vector<std::byte>(problem.expected.size(), std::byte{0xFF}));
        ASSERT_EQ(cuda_gated_activation(problem.args(both.bytes(), output.bytes()), nullptr), LaunchStatus::kOk);
        problem.expect_near(output.copy<std::byte>());
      }
    }
  }
}

void expect_norm(const NormCase::Shape& shape) {
  SCOPED_TRACE(shape.name());
  const NormCase problem(shape);
  const DeviceMemory rows(problem.input);
  const DeviceMemory weight(problem.weight);
  const DeviceMemory added(problem.added);
  const DeviceMemory output(std::vector<std::byte>(problem.expected.size(), std::byte{0xFF}));
  ASSERT_EQ(cuda_rms_norm(problem.args({rows.bytes(), weight.bytes(), added.bytes(), output.bytes()}), nullptr), LaunchStatus::kOk);
  problem.expect_near(output.copy<std::byte>(), rows.copy<std::byte>());
}

// Few rows are held by a thread block each, where they are whole vectors; of many a warp takes one, or from 1025 on a thread block.
TEST_F(CudaStepRows, NormsEqualTheReference) {
  for (const NormCase::Shape& types : testing::norm_types()) {
    const auto expect = [&](std::int64_t rows, std::int64_t groups, std::int64_t features, bool added = false) {
      expect_norm({types.type, types.weight_type, rows, groups, features, added});
    };
    for (const bool added : {false, true}) {
      for (const std::int64_t features : grid_of({1, 36, 896, 1024, 1025, 1032}, {4096, 8191, 8192})) {
        for (const std::int64_t rows : grid_of({features > 800 ? 2 : 9}, {1, 9, 700})) expect(rows, 1, features, added);
      }
      expect(130, 1, 1024, added);
      expect(130, 1, 1032, added);
    }
    expect(3, 5, 64);
    expect(2, 3, 42);
    if (testing::runs_on_card()) expect(300, 5, 128);
  }
}

TEST_F(CudaStepRows, RotaryPositionsEqualTheReference) {
  for (const ElementType type : testing::kEveryElementType) {
    for (const std::int64_t half : grid_of({1, 5, 32, 64}, {128})) {
      for (const std::int64_t rows : grid_of({2}, {1, 300})) {
        const testing::RotaryCase::Shape shape{type, rows, testing::runs_on_card() ? 17 : 9, half};
        SCOPED_TRACE(shape.name());
        const testing::RotaryCase problem(shape);
        const DeviceMemory input(problem.input);
        const DeviceMemory cosine(problem.cosine);
        const DeviceMemory sine(problem.sine);
        const DeviceMemory output(std::vector<std::byte>(problem.expected.size(), std::byte{0xFF}));
        ASSERT_EQ(cuda_rotary(problem.args({input.bytes(), cosine.bytes(), sine.bytes(), output.bytes()}), nullptr), LaunchStatus::kOk);
        problem.expect_near(output.copy<std::byte>());
      }
    }
  }
}

// Launches overlap on a card (kernels/cuda/overlap.cuh): each reads what the one before it writes, and writes what that one reads.
TEST_F(CudaStepRows, AChainOfLaunchesIsTheSameAsOneAfterTheOther) {
  const std::int64_t side = testing::runs_on_card() ? 896 : 64;
  const int links = testing::runs_on_card() ? 400 : 2;
  const GemvCase square({ElementType::kBf16, ElementType::kBf16, side, side, true});
  const GemvCase gated({ElementType::kBf16, ElementType::kBf16, side, side, false, Activation::kGelu});
  const NormCase norm({ElementType::kBf16, ElementType::kBf16, 1, 1, side});
  const DeviceMemory square_matrix(square.matrix);
  const DeviceMemory gated_matrix(gated.matrix);
  const DeviceMemory bias(square.bias);
  const DeviceMemory weight(norm.weight);
  const auto chain = [&](bool waits) {
    const DeviceMemory row(square.input);
    const DeviceMemory normal(square.untouched);
    const DeviceMemory inner(square.untouched);
    const auto launched = [&](LaunchStatus status) {
      EXPECT_EQ(status, LaunchStatus::kOk);
      if (waits) inner.copy<std::byte>();
    };
    for (int link = 0; link < links; ++link) {
      launched(cuda_rms_norm(norm.args({row.bytes(), weight.bytes(), nullptr, normal.bytes()}), nullptr));
      launched(cuda_gemv(gated.args(gated_matrix.bytes(), normal.bytes(), nullptr, inner.bytes()), nullptr));
      launched(cuda_gemv(square.args(square_matrix.bytes(), inner.bytes(), bias.bytes(), row.bytes()), nullptr));
    }
    return row.copy<std::byte>();
  };
  const std::vector<std::byte> expected = chain(true);
  for (int round = 0; round < (testing::runs_on_card() ? 5 : 1); ++round) EXPECT_EQ(chain(false), expected) << round;
}

}  // namespace
}  // namespace winnow::kernels::testing
