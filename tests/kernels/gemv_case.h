// A row and a matrix of numbers for the product of both on a GPU: inputs, the reference's answer and how near an answer must be.
// Copied to where the operator runs (cuda/runner.h); with host pointers for the reference.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "kernels/api/cuda_gemv.h"
#include "kernels/reference/element.h"
#include "tests/kernels/narrow.h"

namespace winnow::kernels::testing {

class GemvCase {
 public:
  struct Shape {
    ElementType type = ElementType::kFp32;
    ElementType output_type = ElementType::kFp32;
    std::int64_t rows = 1, columns = 1;
    bool bias = false;
    std::optional<Activation> gated = {};

    std::int64_t matrix_rows() const { return gated ? 2 * rows : rows; }
    std::string name() const {
      return "type " + std::to_string(static_cast<int>(type)) + " to " + std::to_string(static_cast<int>(output_type)) + " rows " +
             std::to_string(rows) + " columns " + std::to_string(columns) + (bias ? " bias" : "") +
             (gated ? " gated " + std::to_string(static_cast<int>(*gated)) : "");
    }
  };
  static constexpr std::byte kUntouched{0x7A};
  static constexpr std::int64_t kBehind = 64;  // numbers behind matrix, input and bias that are none; behind the output, which stay

  explicit GemvCase(const Shape& shape)
      : matrix(numbers(shape, shape.matrix_rows() * shape.columns, 1)),
        input(numbers(shape, shape.columns, 2)),
        bias(shape.bias ? numbers(shape, shape.matrix_rows(), 3) : std::vector<std::byte>()),
        untouched(static_cast<std::size_t>(shape.rows + kBehind) * element_bytes(shape.output_type), kUntouched),
        shape_(shape) {}

  CudaGemvArgs args(const void* at_matrix, const void* at_input, const void* at_bias, void* at_output) const {
    const void* const given_bias = shape_.bias ? at_bias : nullptr;
    return {shape_.type, at_matrix, shape_.rows, shape_.columns, at_input, given_bias, shape_.output_type, at_output, shape_.gated};
  }

  // Sums of fp32 in another order: a thread adds up at most every 32nd piece, warps add five more; then one rounding to 16 bits, which may
  // go the other way. Of a gate and what it weighs both do, and an activation is at most 1.2 times as steep as its argument.
  void expect_near(const std::vector<std::byte>& actual) const {
    std::vector<std::byte> expected = untouched;
    ASSERT_EQ(cuda_gemv_reference(args(matrix.data(), input.data(), bias.data(), expected.data())), LaunchStatus::kOk);
    const ElementType type = shape_.output_type;
    const double rounding = type == ElementType::kFp32 ? 0.0 : std::ldexp(1.0, type == ElementType::kBf16 ? -8 : -11);
    const double adding = std::ldexp(static_cast<double>(shape_.columns) / 32.0 + 16.0, -24);
    for (std::int64_t row = 0; row < shape_.rows; ++row) {
      const Sum sum = sum_of(row);
      const auto unsure = [&](const Sum& of) { return adding * of.size + 2.0 * rounding * std::abs(of.value); };
      double allowed = adding * sum.size;
      if (shape_.gated) {
        const Sum weighed = sum_of(shape_.rows + row);
        allowed = 1.2 * (unsure(sum) * (std::abs(weighed.value) + unsure(weighed)) + std::abs(sum.value) * unsure(weighed));
      }
      const double wanted = element(expected.data(), type, row);
      ASSERT_NEAR(element(actual.data(), type, row), wanted,
                  allowed + (shape_.gated ? 4.0 : 2.0) * rounding * std::abs(wanted) + (shape_.gated ? 1e-6 : 1e-7))
          << "row " << row;
    }
    const auto behind = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(shape_.rows) * element_bytes(type));
    ASSERT_TRUE(std::all_of(actual.begin() + behind, actual.end(), [](std::byte byte) { return byte == kUntouched; })) << "behind the rows";
  }

  std::vector<std::byte> matrix, input, bias, untouched;

 private:
  struct Sum {
    double value;
    double size;  // of the absolute values
  };
  // Of a row of the matrix.
  Sum sum_of(std::int64_t row) const {
    const double first = shape_.bias ? element(bias.data(), shape_.type, row) : 0.0;
    Sum sum{first, std::abs(first)};
    for (std::int64_t i = 0; i < shape_.columns; ++i) {
      const double product = element(matrix.data(), shape_.type, row * shape_.columns + i) * element(input.data(), shape_.type, i);
      sum.value += product;
      sum.size += std::abs(product);
    }
    return sum;
  }

  static std::vector<std::byte> numbers(const Shape& shape, std::int64_t count, unsigned seed) {
    std::minstd_rand random(seed);
    std::vector<std::byte> memory(static_cast<std::size_t>(count + kBehind) * element_bytes(shape.type));
    for (std::int64_t i = 0; i < count; ++i)
      put(memory.data(), shape.type, i, static_cast<float>(static_cast<std::int64_t>(random()) - 0x40000000) * 0x1p-30F);
    for (std::int64_t i = count; i < count + kBehind; ++i)
      set_element(memory.data(), shape.type, i, std::numeric_limits<float>::quiet_NaN());
    return memory;
  }

  Shape shape_;
};

// Every pair of types that rows and products have.
inline std::vector<GemvCase::Shape> gemv_types() {
  std::vector<GemvCase::Shape> all;
  for (const ElementType type : kEveryElementType) {
    all.push_back({type, ElementType::kFp32});
    if (type != ElementType::kFp32) all.push_back({type, type});
  }
  return all;
}

}  // namespace winnow::kernels::testing
