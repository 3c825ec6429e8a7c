// Products of a vector with a matrix of numbers: the vectorised forms against the definition.
#include "kernels/api/dense_gemv.h"

#include <gtest/gtest.h>

#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "tests/kernels/every_target.h"
#include "tests/kernels/narrow.h"
#include "tests/kernels/random_blocks.h"

namespace winnow::kernels {
namespace {

// 1*1 + 2*10 + 3*100 and, with what is added, 4*1 + 5*10 + 6*100 + 0.5.
TEST(DenseGemv, ByHand) {
  const float matrix[] = {1, 2, 3, 4, 5, 6};
  const float input[] = {1, 10, 100};
  const float added[] = {0.0F, 0.5F};
  for (const auto product : {&dense_gemv_reference, &dense_gemv_cpu}) {
    float output[] = {-1.0F, -1.0F};
    ASSERT_EQ(product({ElementType::kFp32, matrix, 3, 0, 2, input, nullptr, output}), LaunchStatus::kOk);
    EXPECT_EQ(output[0], 321.0F);
    EXPECT_EQ(output[1], 654.0F);
    ASSERT_EQ(product({ElementType::kFp32, matrix, 3, 1, 2, input, added, output}), LaunchStatus::kOk);
    EXPECT_EQ(output[0], 321.0F) << "outside the range";
    EXPECT_EQ(output[1], 654.5F);
  }
}

TEST(DenseGemv, EqualsTheDefinitionForEveryTypeAndWidth) {
  constexpr std::int64_t kRows = 5;
  for (const ElementType type : {ElementType::kFp32, ElementType::kBf16, ElementType::kFp16}) {
    for (const std::int64_t columns : {1, 15, 64, 96, 131, 896}) {
      SCOPED_TRACE(static_cast<int>(type) * 10000 + columns);
      const std::vector<float> numbers = random_input(kRows * columns, 3);
      const std::vector<float> input = random_input(columns, 4);
      const std::vector<float> added = random_input(kRows, 5);
      std::vector<std::byte> matrix(numbers.size() * sizeof(float));
      for (std::size_t i = 0; i < numbers.size(); ++i) testing::put(matrix.data(), type, static_cast<std::int64_t>(i), numbers[i]);
      std::vector<float> expected(kRows);
      DenseGemvArgs args{type, matrix.data(), columns, 0, kRows, input.data(), added.data(), expected.data()};
      ASSERT_EQ(dense_gemv_reference(args), LaunchStatus::kOk);
      for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        SCOPED_TRACE(hwy::TargetName(target));
        hwy::SetSupportedTargetsForTest(target);
        std::vector<float> found(kRows, -1.0F);
        args.output = found.data();
        EXPECT_EQ(dense_gemv_cpu(args), LaunchStatus::kOk);
        hwy::SetSupportedTargetsForTest(0);
        for (std::size_t row = 0; row < found.size(); ++row)
          EXPECT_NEAR(found[row], expected[row], 1e-6 * static_cast<double>(columns) + 1e-6) << "row " << row;
      }
    }
  }
}

// Answers that share a step say what each says alone.
TEST(DenseGemv, SeveralInputsAreEachAsAloneToTheBit) {
  constexpr std::int64_t kRows = 5;
  constexpr std::int64_t kMost = 5;
  for (const ElementType type : {ElementType::kFp32, ElementType::kBf16, ElementType::kFp16}) {
    for (const std::int64_t columns : {1, 96, 131}) {
      SCOPED_TRACE(static_cast<int>(type) * 10000 + columns);
      const std::vector<float> numbers = random_input(kRows * columns, 6);
      const std::vector<float> input = random_input(kMost * columns, 7);
      std::vector<std::byte> matrix(numbers.size() * sizeof(float));
      for (std::size_t i = 0; i < numbers.size(); ++i) testing::put(matrix.data(), type, static_cast<std::int64_t>(i), numbers[i]);
      for (const auto product : {&dense_gemv_reference, &dense_gemv_cpu}) {
        testing::with_every_target([&] {
          const std::vector<float> added = random_input(kRows, 8);
          std::vector<float> alone(kMost * kRows);
          for (std::int64_t i = 0; i < kMost; ++i) {
            ASSERT_EQ(product({type, matrix.data(), columns, 0, kRows, input.data() + i * columns, added.data(), alone.data() + i * kRows}),
                      LaunchStatus::kOk);
          }
          for (std::int64_t inputs = 1; inputs <= kMost; ++inputs) {
            std::vector<float> together(kMost * kRows, -1.0F);
            std::copy(added.begin(), added.end(), together.begin());  // what is added may stand where the first sums go
            ASSERT_EQ(product({type, matrix.data(), columns, 0, kRows, input.data(), together.data(), together.data(), inputs, kRows}),
                      LaunchStatus::kOk);
            for (std::int64_t i = 0; i < inputs * kRows; ++i)
              EXPECT_EQ(together[static_cast<std::size_t>(i)], alone[static_cast<std::size_t>(i)]) << inputs << ", " << i;
          }
        });
      }
    }
  }
}

TEST(DenseGemv, WhatIsNotFiniteStaysSo) {
  std::vector<float> matrix(200, 1.0F);
  matrix[130] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> input(100, 1.0F);
  float output[2] = {};
  ASSERT_EQ(dense_gemv_cpu({ElementType::kFp32, matrix.data(), 100, 0, 2, input.data(), nullptr, output}), LaunchStatus::kOk);
  EXPECT_EQ(output[0], 100.0F);
  EXPECT_TRUE(std::isnan(output[1]));
}

TEST(DenseGemv, RefusesWhatDoesNotFit) {
  float value = 0.0F;
  const DenseGemvArgs good{ElementType::kFp32, &value, 1, 0, 1, &value, nullptr, &value};
  for (const auto change : {+[](DenseGemvArgs& args) { args.columns = -1; }, +[](DenseGemvArgs& args) { args.begin = 2; },
                            +[](DenseGemvArgs& args) { args.input = nullptr; }, +[](DenseGemvArgs& args) { args.inputs = -1; },
                            +[](DenseGemvArgs& args) { args.type = static_cast<ElementType>(9); }}) {
    DenseGemvArgs args = good;
    change(args);
    EXPECT_EQ(dense_gemv_cpu(args), LaunchStatus::kBadArgument);
    EXPECT_EQ(dense_gemv_reference(args), LaunchStatus::kBadArgument);
  }
}

}  // namespace
}  // namespace winnow::kernels
