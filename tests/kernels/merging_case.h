// Rows of which some ask for their nearest and flow into others, at random: what the reference says and how near an answer must be. Copied
// to where the operators run (cuda/runner.h); with host pointers for the reference.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "kernels/api/cuda_merge_rows.h"
#include "kernels/api/cuda_nearest_rows.h"
#include "kernels/reference/element.h"
#include "tests/kernels/narrow.h"

namespace winnow::kernels::testing {

class NearestCase {
 public:
  struct Shape {
    std::int64_t width = 16, asking = 1, among = 1;
    bool both = false;      // two arrays
    std::int64_t room = 0;  // elements between rows; 0: rows are aligned where the width allows
    ElementType type = ElementType::kFp32;
    std::string name() const {
      return "type " + std::to_string(static_cast<int>(type)) + " width " + std::to_string(width) + " asking " + std::to_string(asking) +
             " among " + std::to_string(among) + (both ? " both" : "") + " room " + std::to_string(room);
    }
  };
  struct Result {
    std::vector<float> similarity;
    std::vector<std::int32_t> nearest;
  };
  struct Memory {
    const std::byte* first;
    const std::byte* second;
    const std::int32_t* asking;
    const std::int32_t* among;
    float* similarity;
    std::int32_t* nearest;
    float* workspace;
  };

  explicit NearestCase(const Shape& shape) : shape(shape) {
    std::mt19937 random(static_cast<unsigned>(shape.width * 31 + shape.asking * 7 + shape.among));
    std::normal_distribution<float> normal;
    const std::int64_t rows = shape.asking + shape.among;
    for (std::vector<std::byte>* array : {&first, &second}) {
      array->resize(bytes(rows * stride()));
      for (std::int64_t i = 0; i < rows * stride(); ++i) set_element(array->data(), shape.type, i, normal(random));
    }
    // Every row has one of the two roles, in any order.
    std::vector<std::int32_t> all(static_cast<std::size_t>(rows));
    std::iota(all.begin(), all.end(), 0);
    std::shuffle(all.begin(), all.end(), random);
    asking.assign(all.begin(), all.begin() + shape.asking);
    among.assign(all.begin() + shape.asking, all.end());
    // Every fifth is what one before it is: of those that are the same the first is the nearest. One is nothing at all.
    for (std::int64_t j = 5; j < shape.among; j += 5) copy_row(among[index(j / 2)], among[index(j)]);
    if (shape.among > 2) {
      for (std::int64_t i = 0; i < shape.width; ++i) set(first, among[2], i, 0.0F);
    }
  }

  Result result() const { return {std::vector<float>(index(shape.asking), -7.0F), std::vector<std::int32_t>(index(shape.asking), -7)}; }

  CudaNearestRowsArgs args(const Memory& memory, std::int64_t parts) const {
    CudaNearestRowsArgs args{.type = shape.type,
                             .first = memory.first,
                             .first_stride = stride(),
                             .second = shape.both ? memory.second : nullptr,
                             .second_stride = stride(),
                             .width = shape.width,
                             .asking = memory.asking};
    args.asking_count = shape.asking;
    args.among = memory.among;
    args.among_count = shape.among;
    args.similarity = memory.similarity;
    args.nearest = memory.nearest;
    args.parts = parts;
    args.workspace = memory.workspace;
    return args;
  }
  CudaNearestRowsArgs args(Result& result, float* workspace, std::int64_t parts) const {
    return args({first.data(), second.data(), asking.data(), among.data(), result.similarity.data(), result.nearest.data(), workspace},
                parts);
  }

  // fp32 rounding only: of a dot product of `width` terms, which together are no larger than the lengths' product, and of the lengths. What
  // is that near to the nearest may take its place; what is the same as an earlier one may not.
  void expect_near(const Result& actual) const {
    Result expected = result();
    float unused = 0.0F;
    ASSERT_EQ(cuda_nearest_rows_reference(args(expected, &unused, 1)), LaunchStatus::kOk);
    const double near = (shape.both ? 2.0 : 1.0) * (2.0 * static_cast<double>(shape.width) + 16.0) * 0x1p-24;
    for (std::int64_t i = 0; i < shape.asking; ++i) {
      const std::int32_t found = actual.nearest[index(i)];
      ASSERT_TRUE(found >= 0 && found < shape.among) << i << " found " << found;
      ASSERT_NEAR(actual.similarity[index(i)], expected.similarity[index(i)], near) << i;
      if (found != expected.nearest[index(i)]) {
        ASSERT_NEAR(similarity_with(i, found), expected.similarity[index(i)], 2.0 * near) << i << " found " << found;
      }
      for (std::int32_t j = 0; j < found; ++j) ASSERT_FALSE(same_rows(among[index(j)], among[index(found)])) << i << " found " << found;
    }
  }

  std::int64_t stride() const { return shape.width + shape.room; }
  void set(std::vector<std::byte>& array, std::int64_t row, std::int64_t i, float value) const {
    set_element(array.data(), shape.type, row * stride() + i, value);
  }

  const Shape shape;
  std::vector<std::byte> first, second;
  std::vector<std::int32_t> asking, among;

 private:
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
  std::size_t bytes(std::int64_t elements) const { return index(elements) * element_bytes(shape.type); }
  const std::byte* row(const std::vector<std::byte>& array, std::int64_t number) const { return array.data() + bytes(number * stride()); }
  void copy_row(std::int64_t from, std::int64_t to) {
    for (std::vector<std::byte>* array : {&first, &second}) {
      std::copy_n(row(*array, from), bytes(shape.width), array->data() + bytes(to * stride()));
    }
  }
  bool same_rows(std::int64_t a, std::int64_t b) const {
    const auto same = [&](const std::vector<std::byte>& array) {
      return std::equal(row(array, a), row(array, a) + bytes(shape.width), row(array, b));
    };
    return same(first) && (!shape.both || same(second));
  }
  // By the reference, of one pair alone.
  double similarity_with(std::int64_t i, std::int64_t j) const {
    Result one{{0.0F}, {0}};
    float unused = 0.0F;
    CudaNearestRowsArgs pair = args(one, &unused, 1);
    pair.asking += i;
    pair.asking_count = 1;
    pair.among += j;
    pair.among_count = 1;
    EXPECT_EQ(cuda_nearest_rows_reference(pair), LaunchStatus::kOk);
    return one.similarity[0];
  }
};

class MergeCase {
 public:
  // width elements of `rows` rows, of which `count` stay; room: floats between rows.
  MergeCase(std::int64_t width, std::int64_t rows, std::int64_t count, std::int64_t room) : width_(width), stride_(width + room) {
    std::mt19937 random(static_cast<unsigned>(width * 31 + rows * 7 + count));
    std::normal_distribution<float> normal;
    for (std::int64_t i = 0; i < rows * stride_; ++i) data.push_back(normal(random));
    begin.push_back(0);
    for (std::int64_t i = 0; i < count; ++i) {
      stay.push_back(static_cast<std::int32_t>(random() % static_cast<unsigned>(rows)));
      own.push_back(std::fabs(normal(random)) + 0.1F);
      divisor.push_back(std::fabs(normal(random)) + 0.5F);
      const unsigned flows = i == 1 ? 300 : random() % 6;  // none, some, many
      for (unsigned flow = 0; flow < flows; ++flow) {
        from.push_back(static_cast<std::int32_t>(random() % static_cast<unsigned>(rows)));
        weight.push_back(normal(random));
      }
      begin.push_back(static_cast<std::int32_t>(from.size()));
    }
    from.push_back(1 << 30);  // never read
    weight.push_back(0.0F);
    std::vector<float> output = untouched();
    EXPECT_EQ(cuda_merge_rows_reference(args(data.data(), stay.data(), output.data())), LaunchStatus::kOk);
    expected = output;
  }

  std::vector<float> untouched() const { return std::vector<float>(stay.size() * static_cast<std::size_t>(width_), -7.0F); }

  // The other pointers are the host's.
  CudaMergeRowsArgs args(const float* rows, const std::int32_t* staying, float* output) const {
    CudaMergeRowsArgs args{.rows = rows,
                           .row_stride = stride_,
                           .width = width_,
                           .stay = staying,
                           .count = std::ssize(stay),
                           .own = own.data(),
                           .divisor = divisor.data()};
    args.begin = begin.data();
    args.from = from.data();
    args.weight = weight.data();
    args.output = output;
    return args;
  }

  std::vector<float> data, own, divisor, weight, expected;
  std::vector<std::int32_t> stay, begin, from;

 private:
  std::int64_t width_, stride_;
};

}  // namespace winnow::kernels::testing
