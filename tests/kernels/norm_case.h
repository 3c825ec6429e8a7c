// Rows of heads at random with room between them, what an RMS norm makes of them by its definition, and how near a result has to be.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kernels/api/rms_norm.h"
#include "kernels/reference/element.h"
#include "tests/kernels/narrow.h"

namespace winnow::kernels::testing {

class NormCase {
 public:
  struct Shape {
    ElementType type = ElementType::kFp32;
    ElementType weight_type = ElementType::kFp32;
    std::int64_t rows = 1, groups = 1, features = 1;
    bool added = false;

    std::string name() const {
      return "type " + std::to_string(static_cast<int>(type)) + " weight " + std::to_string(static_cast<int>(weight_type)) + " rows " +
             std::to_string(rows) + " groups " + std::to_string(groups) + " features " + std::to_string(features) + (added ? " added" : "");
    }
  };
  static constexpr std::int64_t kRoom = 8;  // elements behind each row of input

  // Rows in memory, here or on a device.
  struct Memory {
    std::byte* input;  // becomes the sum
    const std::byte* weight;
    const std::byte* added;
    std::byte* output;
  };

  explicit NormCase(const Shape& shape) : shape_(shape) {
    std::mt19937 random(static_cast<unsigned>(shape.features * 7 + shape.rows));
    std::normal_distribution<float> normal(0.3F, 2.0F);
    const auto numbers = [&](std::int64_t count, ElementType type) {
      std::vector<std::byte> memory(static_cast<std::size_t>(count) * element_bytes(type));
      for (std::int64_t i = 0; i < count; ++i) set_element(memory.data(), type, i, normal(random));
      return memory;
    };
    input = numbers(shape.rows * row_stride(), shape.type);
    weight = numbers(shape.features, shape.weight_type);
    if (shape.added) added = numbers(shape.rows * shape.features, shape.type);
    expected.resize(static_cast<std::size_t>(shape.rows * shape.groups * shape.features) * element_bytes(shape.type));
    expected_sum = input;
    EXPECT_EQ(rms_norm_reference(args({expected_sum.data(), weight.data(), added.data(), expected.data()})), LaunchStatus::kOk);
  }

  RmsNormArgs args(const Memory& memory) const {
    RmsNormArgs args;
    args.type = shape_.type;
    args.rows = shape_.rows;
    args.groups = shape_.groups;
    args.features = shape_.features;
    args.input = memory.input;
    args.input_strides = {row_stride(), shape_.features};
    args.weight_type = shape_.weight_type;
    args.weight = memory.weight;
    args.epsilon = 1e-5F;
    args.output = memory.output;
    args.output_strides = {shape_.groups * shape_.features, shape_.features};
    if (shape_.added) {
      args.added = memory.added;
      args.added_stride = shape_.features;
      args.sum = memory.input;
    }
    return args;
  }

  // A sum of squares in fp32 is off by a few units of its own, a root by half of that. In 16 bits roundings may then go the other way,
  // which few do.
  void expect_near(const std::vector<std::byte>& output, const std::vector<std::byte>& sum) const {
    EXPECT_EQ(sum, expected_sum) << "sums are exact";
    const double unit = shape_.type == ElementType::kFp32 ? 0x1p-20 : shape_.type == ElementType::kBf16 ? 0x1p-6 : 0x1p-9;
    const double least = shape_.type == ElementType::kFp16 ? 0x1p-22 : 0.0;
    std::int64_t other = 0;
    const std::int64_t count = shape_.rows * shape_.groups * shape_.features;
    for (std::int64_t i = 0; i < count; ++i) {
      const double wanted = element(expected.data(), shape_.type, i);
      const double got = element(output.data(), shape_.type, i);
      ASSERT_NEAR(got, wanted, unit * std::abs(wanted) + least) << i;
      other += got != wanted ? 1 : 0;
    }
    if (shape_.type != ElementType::kFp32) {
      EXPECT_LE(other, 1 + count / 100) << "numbers that were rounded otherwise";
    }
  }

  std::vector<std::byte> input, weight, added, expected, expected_sum;

 private:
  std::int64_t row_stride() const { return shape_.groups * shape_.features + kRoom; }
  Shape shape_;
};

// Every pair of types that rows and weights have.
inline std::vector<NormCase::Shape> norm_types() {
  std::vector<NormCase::Shape> all;
  for (const ElementType type : kEveryElementType) {
    all.push_back({type, type});
    if (type != ElementType::kFp32) all.push_back({type, ElementType::kFp32});
  }
  return all;
}

}  // namespace winnow::kernels::testing
