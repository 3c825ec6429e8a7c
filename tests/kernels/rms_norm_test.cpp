// RMS norms: the vectorised forms against the definition, the definition against numbers worked out by hand.
#include "kernels/api/rms_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/kernels/changed_arguments.h"
#include "tests/kernels/every_target.h"
#include "tests/kernels/norm_case.h"

namespace winnow::kernels::testing {
namespace {

using Kernel = LaunchStatus (*)(const RmsNormArgs&);

void expect_definition(const NormCase& problem) {
  with_every_target([&] {
    std::vector<std::byte> rows = problem.input;
    std::vector<std::byte> output(problem.expected.size(), std::byte{0xFF});
    ASSERT_EQ(rms_norm_cpu(problem.args({rows.data(), problem.weight.data(), problem.added.data(), output.data()})), LaunchStatus::kOk);
    problem.expect_near(output, rows);
  });
}

// mean(9, 16) = 12.5; of 1 + 2 and 1 + 3 as well.
TEST(RmsNormKernel, ByHand) {
  for (const Kernel kernel : {&rms_norm_reference, &rms_norm_cpu}) {
    const float weight[] = {2.0F, 1.0F};
    float input[] = {3.0F, 4.0F};
    float output[2] = {};
    RmsNormArgs args{ElementType::kFp32, 1, 1, 2, input, {2, 2}, ElementType::kFp32, weight, 0.0F, output, {2, 2}};
    ASSERT_EQ(kernel(args), LaunchStatus::kOk);
    EXPECT_NEAR(output[0], 2.0 * 3.0 / std::sqrt(12.5), 1e-6);
    EXPECT_NEAR(output[1], 4.0 / std::sqrt(12.5), 1e-6);
    const float added[] = {2.0F, 3.0F};
    input[0] = input[1] = 1.0F;
    args.added = added;
    args.added_stride = 2;
    args.sum = input;
    ASSERT_EQ(kernel(args), LaunchStatus::kOk);
    EXPECT_EQ(input[0], 3.0F);
    EXPECT_EQ(input[1], 4.0F);
    EXPECT_NEAR(output[1], 4.0 / std::sqrt(12.5), 1e-6);
  }
}

TEST(RmsNormKernel, EqualsTheDefinitionForEveryTypeAndWidth) {
  for (NormCase::Shape shape : norm_types()) {
    for (const std::int64_t features : {1, 7, 64, 511, 512, 513, 2300}) {
      for (const bool added : {false, true}) {
        shape.rows = 3;
        shape.features = features;
        shape.added = added;
        SCOPED_TRACE(shape.name());
        expect_definition(NormCase(shape));
      }
    }
  }
}

TEST(RmsNormKernel, HeadsOfARowAreNormalisedOneByOne) {
  for (NormCase::Shape shape : norm_types()) {
    shape.rows = 4;
    shape.groups = 5;
    shape.features = 48;
    SCOPED_TRACE(shape.name());
    expect_definition(NormCase(shape));
  }
}

TEST(RmsNormKernel, ARowMayBeNormalisedWhereItLies) {
  const NormCase problem({ElementType::kBf16, ElementType::kBf16, 2, 3, 600});
  with_every_target([&] {
    std::vector<std::byte> rows = problem.input;
    RmsNormArgs args = problem.args({rows.data(), problem.weight.data(), nullptr, rows.data()});
    args.output_strides = args.input_strides;
    ASSERT_EQ(rms_norm_cpu(args), LaunchStatus::kOk);
    std::vector<std::byte> apart(problem.expected.size());
    const NormCase::Memory elsewhere{const_cast<std::byte*>(problem.input.data()), problem.weight.data(), nullptr, apart.data()};
    ASSERT_EQ(rms_norm_cpu(problem.args(elsewhere)), LaunchStatus::kOk);
    const std::size_t row = 3 * 600 * 2;  // bytes
    for (std::size_t r = 0; r < 2; ++r) {
      const auto* const there = rows.data() + r * (row + 2 * NormCase::kRoom);
      EXPECT_TRUE(std::equal(there, there + row, apart.data() + r * row));
    }
  });
}

TEST(RmsNormKernel, WhatIsNotFiniteMakesItsRowNan) {
  with_every_target([] {
    std::vector<float> input(200, 1.0F);
    input[130] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> weight(100, 1.0F);
    std::vector<float> output(200);
    ASSERT_EQ(
        rms_norm_cpu(
            {ElementType::kFp32, 2, 1, 100, input.data(), {100, 0}, ElementType::kFp32, weight.data(), 0.0F, output.data(), {100, 0}}),
        LaunchStatus::kOk);
    EXPECT_EQ(output[0], 1.0F);
    EXPECT_TRUE(std::isnan(output[100]));
  });
}

TEST(RmsNormKernel, RefusesWhatDoesNotFit) {
  float value = 0.0F;
  const RmsNormArgs good{ElementType::kBf16, 1, 1, 1, &value, {1, 1}, ElementType::kBf16, &value, 0.0F, &value, {1, 1}};
  const ChangedArguments expect(good, {&rms_norm_reference, &rms_norm_cpu});
  expect(kOk, [](auto& a) { a.rows = 0; });
  expect(kOk, [](auto& a) { a.weight_type = ElementType::kFp32; });
  expect.needs(&RmsNormArgs::input, &RmsNormArgs::weight, &RmsNormArgs::output);
  expect(kBad, [](auto& a) { a.features = 0; });
  expect(kBad, [](auto& a) { a.rows = -1; });
  expect(kBad, [](auto& a) { a.groups = -1; });
  expect(kBad, [](auto& a) { a.input_strides.row = -1; });
  expect(kBad, [](auto& a) { a.type = static_cast<ElementType>(9); });
  expect(kBad, [](auto& a) { a.weight_type = ElementType::kFp16; });
  expect(kBad, [&](auto& a) { a.added = &value; });  // and no place for the sum
  expect(kBad, [&](auto& a) {
    a.added = a.sum = &value;
    a.groups = 2;
  });
  expect(kTooLarge, [](auto& a) { a.features = kMaxNormFeatures + 1; });
  expect(kTooLarge, [](auto& a) { a.rows = a.groups = kMaxNormRows / 2; });
}

}  // namespace
}  // namespace winnow::kernels::testing
