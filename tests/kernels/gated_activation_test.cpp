// Gated activations: the vectorised forms against the definition, the definition against numbers from tables.
#include "kernels/api/gated_activation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/kernels/changed_arguments.h"
#include "tests/kernels/every_target.h"
#include "tests/kernels/gated_case.h"

namespace winnow::kernels::testing {
namespace {

using Kernel = LaunchStatus (*)(const GatedActivationArgs&);

// One row in fp32, multiplied by ones.
std::vector<float> activated(Kernel kernel, Activation activation, const std::vector<float>& gate) {
  const auto columns = static_cast<std::int64_t>(gate.size());
  const std::vector<float> ones(gate.size(), 1.0F);
  std::vector<float> output(gate.size(), -7.0F);
  EXPECT_EQ(kernel({activation, ElementType::kFp32, gate.data(), ones.data(), columns, 1, columns, output.data()}), LaunchStatus::kOk);
  return output;
}

TEST(GatedActivation, ByHand) {
  // Two rows of [gate, gate, up, up]; the logistic function of 1 is 0.7310586.
  const float both[] = {1.0F, -1.0F, 2.0F, 4.0F, 0.0F, 1.0F, 5.0F, -1.0F};
  for (const Kernel kernel : {&gated_activation_reference, &gated_activation_cpu}) {
    float output[4] = {};
    ASSERT_EQ(kernel({Activation::kSilu, ElementType::kFp32, both, both + 2, 4, 2, 2, output}), LaunchStatus::kOk);
    EXPECT_NEAR(output[0], 2.0 * 0.7310586, 1e-6);
    EXPECT_NEAR(output[1], -4.0 * 0.2689414, 1e-6);
    EXPECT_EQ(output[2], 0.0F);
    EXPECT_NEAR(output[3], -0.7310586, 1e-6);
    EXPECT_NEAR(activated(kernel, Activation::kGelu, {1.0F})[0], 0.8413447, 1e-6);  // Phi(1)
    EXPECT_NEAR(activated(kernel, Activation::kGeluTanh, {1.0F})[0], 0.8411920, 1e-6);
    EXPECT_NEAR(activated(kernel, Activation::kQuickGelu, {1.0F})[0], 0.8457958, 1e-6);
    EXPECT_EQ(activated(kernel, Activation::kRelu, {-1.5F, 1.5F}), (std::vector<float>{0.0F, 1.5F}));
  }
}

TEST(GatedActivation, EqualsTheDefinitionForEveryTypeAndWidth) {
  for (const Activation activation : kEveryActivation) {
    for (const ElementType type : kEveryElementType) {
      for (const std::int64_t columns : {1, 7, 64, 511, 512, 1100}) {
        SCOPED_TRACE(::testing::Message() << static_cast<int>(activation) << " type " << static_cast<int>(type) << " columns " << columns);
        const GatedCase problem(activation, type, 3, columns);
        with_every_target([&] {
          std::vector<std::byte> output(problem.expected.size(), std::byte{0xFF});
          ASSERT_EQ(gated_activation_cpu(problem.args(problem.both.data(), output.data())), LaunchStatus::kOk);
          problem.expect_near(output);
        });
      }
    }
  }
}

// The bound that the header states, over all sizes of numbers; SiLU's is one of the result, also where that is tiny.
TEST(GatedActivation, IsExactToATwoMillionthEverywhere) {
  std::vector<float> gate = {0.0F, std::numeric_limits<float>::max(), -std::numeric_limits<float>::max()};
  for (float size = 1e-30F; size < 200.0F; size *= 1.0007F) {
    gate.push_back(size);
    gate.push_back(-size);
  }
  for (const Activation activation : kEveryActivation) {
    const std::vector<float> expected = activated(&gated_activation_reference, activation, gate);
    with_every_target([&] {
      const std::vector<float> actual = activated(&gated_activation_cpu, activation, gate);
      for (std::size_t i = 0; i < gate.size(); ++i) {
        ASSERT_NEAR(actual[i], expected[i], 0x1p-21 * std::abs(gate[i])) << static_cast<int>(activation) << " of " << gate[i];
        if (activation == Activation::kSilu && gate[i] > -80.0F) {
          ASSERT_NEAR(actual[i], expected[i], 5e-7 * std::abs(expected[i])) << gate[i];
        }
      }
    });
  }
}

TEST(GatedActivation, WhatIsNotFiniteStaysVisible) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Activation activation : kEveryActivation) {
    SCOPED_TRACE(static_cast<int>(activation));
    with_every_target([&] {
      const std::vector<float> output = activated(&gated_activation_cpu, activation, {nan, 1.0F, kInfinity});
      EXPECT_TRUE(std::isnan(output[0]));
      EXPECT_TRUE(std::isfinite(output[1]));
      EXPECT_EQ(output[2], kInfinity);
      const float gate = 1.0F;
      float product = 0.0F;
      ASSERT_EQ(gated_activation_cpu({activation, ElementType::kFp32, &gate, &nan, 1, 1, 1, &product}), LaunchStatus::kOk);
      EXPECT_TRUE(std::isnan(product));
    });
  }
}

TEST(GatedActivation, RefusesWhatDoesNotFit) {
  float value = 0.0F;
  const GatedActivationArgs good{Activation::kSilu, ElementType::kFp32, &value, &value, 1, 1, 1, &value};
  const ChangedArguments expect(good, {&gated_activation_reference, &gated_activation_cpu});
  expect(kOk, [](auto& a) { a.rows = 0; });
  expect.needs(&GatedActivationArgs::gate, &GatedActivationArgs::up, &GatedActivationArgs::output);
  expect(kBad, [](auto& a) { a.stride = 0; });
  expect(kBad, [](auto& a) { a.rows = -1; });
  expect(kBad, [](auto& a) { a.type = static_cast<ElementType>(9); });
  expect(kBad, [](auto& a) { a.activation = static_cast<Activation>(9); });
  expect(kTooLarge, [](auto& a) { a.stride = a.columns = kMaxGatedColumns + 1; });
  expect(kTooLarge, [](auto& a) { a.rows = kMaxGatedRows + 1; });
}

}  // namespace
}  // namespace winnow::kernels::testing
