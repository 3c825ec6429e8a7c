// Rows of heads at random with room between them, what rotary positions make of them by their definition, and how near a result has to be.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kernels/api/rotary.h"
#include "kernels/reference/element.h"
#include "tests/kernels/narrow.h"

namespace winnow::kernels::testing {

class RotaryCase {
 public:
  struct Shape {
    ElementType type = ElementType::kFp32;
    std::int64_t rows = 1, heads = 1, half = 1;

    std::string name() const {
      return "type " + std::to_string(static_cast<int>(type)) + " rows " + std::to_string(rows) + " heads " + std::to_string(heads) +
             " half " + std::to_string(half);
    }
  };

  // Tensors in memory, here or on a device.
  struct Memory {
    const std::byte* input;
    const std::byte* cosine;
    const std::byte* sine;
    std::byte* output;
  };

  explicit RotaryCase(const Shape& shape) : shape_(shape) {
    std::mt19937 random(static_cast<unsigned>(shape.half * 7 + shape.heads));
    std::normal_distribution<float> normal(0.0F, 2.0F);
    const auto bytes = [&](std::int64_t count) {
      return std::vector<std::byte>(static_cast<std::size_t>(count) * element_bytes(shape.type));
    };
    input = bytes(shape.rows * row_stride());
    for (std::int64_t i = 0; i < shape.rows * row_stride(); ++i) set_element(input.data(), shape.type, i, normal(random));
    cosine = sine = bytes(shape.rows * shape.half);
    for (std::int64_t i = 0; i < shape.rows * shape.half; ++i) {
      const float angle = 10.0F * normal(random);
      set_element(cosine.data(), shape.type, i, std::cos(angle));
      set_element(sine.data(), shape.type, i, std::sin(angle));
    }
    expected = bytes(shape.rows * shape.heads * 2 * shape.half);
    EXPECT_EQ(rotary_reference(args({input.data(), cosine.data(), sine.data(), expected.data()})), LaunchStatus::kOk);
  }

  // The output has its heads outermost, as a cache's keys do.
  RotaryArgs args(const Memory& memory) const {
    RotaryArgs args;
    args.type = shape_.type;
    args.rows = shape_.rows;
    args.heads = shape_.heads;
    args.half = shape_.half;
    args.input = memory.input;
    args.input_strides = {row_stride(), 2 * shape_.half};
    args.cosine = memory.cosine;
    args.sine = memory.sine;
    args.output = memory.output;
    args.output_strides = {2 * shape_.half, shape_.rows * 2 * shape_.half};
    return args;
  }

  // Two products and a sum of numbers below 16, where a sum may cancel.
  void expect_near(const std::vector<std::byte>& output) const {
    const double unit = shape_.type == ElementType::kFp32 ? 0x1p-23 : shape_.type == ElementType::kBf16 ? 0x1p-7 : 0x1p-10;
    std::int64_t other = 0;
    const std::int64_t count = shape_.rows * shape_.heads * 2 * shape_.half;
    for (std::int64_t i = 0; i < count; ++i) {
      const double wanted = element(expected.data(), shape_.type, i);
      const double got = element(output.data(), shape_.type, i);
      ASSERT_NEAR(got, wanted, unit * (16.0 + std::abs(wanted))) << i;
      other += got != wanted ? 1 : 0;
    }
    if (shape_.type != ElementType::kFp32) {
      EXPECT_LE(other, 1 + count / 100) << "numbers that were rounded otherwise";
    }
  }

  std::vector<std::byte> input, cosine, sine, expected;

 private:
  std::int64_t row_stride() const { return (shape_.heads + 2) * 2 * shape_.half; }
  Shape shape_;
};

}  // namespace winnow::kernels::testing
