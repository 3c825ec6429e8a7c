// Rows of [gate | up] at random, what a gated activation makes of them by its definition, and how near a result has to be.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/api/gated_activation.h"
#include "kernels/reference/element.h"
#include "tests/kernels/narrow.h"

namespace winnow::kernels::testing {

inline constexpr Activation kEveryActivation[] = {Activation::kSilu, Activation::kGelu, Activation::kGeluTanh, Activation::kQuickGelu,
                                                  Activation::kRelu};

class GatedCase {
 public:
  GatedCase(Activation activation, ElementType type, std::int64_t rows, std::int64_t columns)
      : both(static_cast<std::size_t>(rows * 2 * columns) * element_bytes(type)),
        expected(static_cast<std::size_t>(rows * columns) * element_bytes(type), std::byte{0xFF}) {
    std::mt19937 random(static_cast<unsigned>(columns * 10 + static_cast<int>(activation)));
    std::normal_distribution<float> normal(0.0F, 3.0F);
    for (std::int64_t i = 0; i < rows * 2 * columns; ++i) set_element(both.data(), type, i, normal(random));
    args_ = {activation, type, nullptr, nullptr, 2 * columns, rows, columns, nullptr};
    EXPECT_EQ(gated_activation_reference(args(both.data(), expected.data())), LaunchStatus::kOk);
  }

  // both: where the rows lie, here or on a device; output: as many bytes as `expected`.
  GatedActivationArgs args(const std::byte* rows, std::byte* output) const {
    GatedActivationArgs args = args_;
    args.gate = rows;
    args.up = rows + static_cast<std::size_t>(args.columns) * element_bytes(args.type);
    args.output = output;
    return args;
  }

  // An activation is off by 2^-21 of x at most. In 16 bits both roundings may then go the other way, which few do but in the tails.
  void expect_near(const std::vector<std::byte>& actual) const {
    const double unit = args_.type == ElementType::kFp32 ? 0x1p-23 : args_.type == ElementType::kBf16 ? 0x1p-7 : 0x1p-10;
    const double least = args_.type == ElementType::kFp16 ? 0x1p-24 : 0.0;  // a subnormal step
    std::int64_t other = 0;
    for (std::int64_t row = 0; row < args_.rows; ++row) {
      for (std::int64_t column = 0; column < args_.columns; ++column) {
        const auto of = [&](std::int64_t place) { return element(both.data(), args_.type, row * args_.stride + place); };
        const double wanted = element(expected.data(), args_.type, row * args_.columns + column);
        const double got = element(actual.data(), args_.type, row * args_.columns + column);
        const double up = std::abs(of(args_.columns + column));
        ASSERT_NEAR(got, wanted, 0x1p-21 * std::abs(of(column)) * up + 2.0 * unit * std::abs(wanted) + least * (1.0 + up))
            << "row " << row << " column " << column << " gate " << of(column);
        other += got != wanted && std::abs(wanted) > 0x1p-8 * std::abs(of(column)) * up ? 1 : 0;
      }
    }
    if (args_.type != ElementType::kFp32) {
      EXPECT_LE(other, 1 + args_.rows * args_.columns / 100) << "numbers that were rounded otherwise";
    }
  }

  std::vector<std::byte> both;      // [rows, 2 * columns]
  std::vector<std::byte> expected;  // [rows, columns]

 private:
  GatedActivationArgs args_;
};

}  // namespace winnow::kernels::testing
