// Queries and keys of several kv heads at random, as slices of projections lie, their column sums by definition, and how near a result has
// to be.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/api/cuda_column_sums.h"
#include "kernels/reference/element.h"
#include "tests/kernels/narrow.h"

namespace winnow::kernels::testing {

class CudaColumnsCase {
 public:
  struct Shape {
    ElementType type = ElementType::kFp32;
    std::int64_t head_dim = 16, kv_heads = 2, group = 1;
    std::int64_t rows = 1, columns = 1, seen_by_first = 1;
    std::int64_t room = 8;  // elements between heads; 8: rows are aligned where head_dim allows

    std::string name() const {
      std::string text = "type " + std::to_string(static_cast<int>(type));
      for (const auto& [what, number] :
           {std::pair("head_dim", head_dim), std::pair("kv_heads", kv_heads), std::pair("group", group), std::pair("rows", rows),
            std::pair("columns", columns), std::pair("seen by first", seen_by_first), std::pair("room", room)}) {
        text += std::string(" ") + what + " " + std::to_string(number);
      }
      return text;
    }
  };
  static constexpr std::int64_t kBeside = 3;  // floats behind every head's results

  // Begins at 1, to see that results are added to.
  struct Result {
    explicit Result(const Shape& shape)
        : sums(static_cast<std::size_t>(shape.kv_heads * shape.group * (shape.columns + kBeside)), 1.0F),
          squares(static_cast<std::size_t>(shape.kv_heads * (shape.columns + kBeside)), 1.0F),
          entropy(static_cast<std::size_t>(shape.kv_heads * shape.group), 1.0) {}
    std::vector<float> sums, squares;
    std::vector<double> entropy;
  };
  // Where they lie, here or on a device.
  struct Memory {
    const std::byte* query;
    const std::byte* key;
    const float* log_sum_exp;
    float* sums;
    float* squares;
    double* entropy;
    void* workspace;
  };

  explicit CudaColumnsCase(const Shape& shape)
      : shape(shape),
        query(static_cast<std::size_t>(shape.rows * heads() * stride()) * element_bytes(shape.type)),
        key(static_cast<std::size_t>(shape.columns * shape.kv_heads * stride()) * element_bytes(shape.type)) {
    std::mt19937 random(static_cast<unsigned>(shape.head_dim * 31 + shape.group * 7 + shape.rows + shape.columns));
    std::normal_distribution<float> normal;
    for (std::int64_t i = 0; i < shape.rows * heads() * stride(); ++i) put(query.data(), shape.type, i, normal(random));
    for (std::int64_t i = 0; i < shape.columns * shape.kv_heads * stride(); ++i) put(key.data(), shape.type, i, normal(random));
    const std::vector<double> queries = upcast(query);
    const std::vector<double> keys = upcast(key);
    const auto scale = static_cast<double>(logits(query.data(), key.data()).scale);
    for (std::int64_t head = 0; head < heads(); ++head) {
      for (std::int64_t row = 0; row < shape.rows; ++row) {
        double sum = 0.0;
        const auto of_row = queries.begin() + (row * heads() + head) * stride();
        for (std::int64_t column = 0; column < std::min(shape.columns, shape.seen_by_first + row); ++column) {
          const auto of_column = keys.begin() + (column * shape.kv_heads + head / shape.group) * stride();
          sum += std::exp(std::inner_product(of_row, of_row + shape.head_dim, of_column, 0.0) * scale);
        }
        log_sum_exp.push_back(sum > 0.0 ? static_cast<float>(std::log(sum)) : 0.0F);
      }
    }
  }

  // Of queries and keys that lie there.
  CudaLogits logits(const std::byte* query_at, const std::byte* key_at) const {
    CudaLogits logits{.type = shape.type,
                      .query = query_at,
                      .query_head_stride = stride(),
                      .query_row_stride = heads() * stride(),
                      .kv_heads = shape.kv_heads,
                      .group = shape.group,
                      .rows = shape.rows};
    logits.key = key_at;
    logits.key_head_stride = stride();
    logits.key_row_stride = shape.kv_heads * stride();
    logits.columns = shape.columns;
    logits.head_dim = shape.head_dim;
    logits.scale = 1.0F / std::sqrt(static_cast<float>(shape.head_dim));
    return logits;
  }

  CudaColumnSumsArgs args(const Memory& memory, std::int64_t parts) const {
    CudaColumnSumsArgs args;
    static_cast<CudaLogits&>(args) = logits(memory.query, memory.key);
    args.seen_by_first = shape.seen_by_first;
    args.log_sum_exp = memory.log_sum_exp;
    args.log_sum_exp_stride = shape.rows;
    args.sums = memory.sums;
    args.sums_stride = shape.columns + kBeside;
    args.squares = memory.squares;
    args.squares_stride = shape.columns + kBeside;
    args.entropy = memory.entropy;
    args.parts = parts;
    args.workspace = memory.workspace;
    return args;
  }
  CudaColumnSumsArgs args(Result& result, void* workspace, std::int64_t parts) const {
    return args({query.data(), key.data(), log_sum_exp.data(), result.sums.data(), result.squares.data(), result.entropy.data(), workspace},
                parts);
  }

  // fp32 rounding only: a logit is a sum of head_dim terms, a sum one of rows of them, all positive. Logits of standard normals are below
  // 6, so that their error is below 6 * head_dim * 2^-24, which is the relative error of a probability.
  void expect_near(const Result& actual) const {
    if (!expected_) {  // once for all splits: it takes most of a test's time
      double unused = 0.0;
      ASSERT_EQ(cuda_column_sums_reference(args(expected_.emplace(shape), &unused, 1)), LaunchStatus::kOk);
    }
    const Result& expected = *expected_;
    const double relative =
        (6.0 * static_cast<double>(shape.head_dim) + static_cast<double>(std::min<std::int64_t>(shape.rows, 64) + shape.rows / 64) + 8.0) *
        0x1p-24;
    for (std::size_t i = 0; i < expected.sums.size(); ++i) ASSERT_NEAR(actual.sums[i], expected.sums[i], relative * expected.sums[i]) << i;
    for (std::size_t i = 0; i < expected.squares.size(); ++i) {
      ASSERT_NEAR(actual.squares[i], expected.squares[i], 2.0 * relative * expected.squares[i]) << i;
    }
    // ln p has the error of a logit; the sum of p is 1 a row.
    for (std::size_t i = 0; i < expected.entropy.size(); ++i) {
      ASSERT_NEAR(actual.entropy[i], expected.entropy[i], relative * (std::abs(expected.entropy[i]) + static_cast<double>(shape.rows)))
          << i;
    }
  }

  std::int64_t heads() const { return shape.kv_heads * shape.group; }
  std::int64_t stride() const { return shape.head_dim + shape.room; }

  const Shape shape;
  std::vector<std::byte> query, key;  // [rows, heads, stride], [columns, kv heads, stride]
  std::vector<float> log_sum_exp;     // the rows' own, so that probabilities sum to 1

 private:
  std::vector<double> upcast(const std::vector<std::byte>& numbers) const {
    std::vector<double> wide(numbers.size() / element_bytes(shape.type));
    for (std::size_t i = 0; i < wide.size(); ++i) wide[i] = element(numbers.data(), shape.type, static_cast<std::int64_t>(i));
    return wide;
  }

  mutable std::optional<Result> expected_;
};

// Rows and columns around tiles of 64, with what the first row sees.
inline std::vector<CudaColumnsCase::Shape> column_sizes() {
  std::vector<CudaColumnsCase::Shape> all;
  for (const auto& [rows, columns, seen] :
       {std::array<std::int64_t, 3>{1, 1, 1}, {70, 70, 1}, {130, 65, -3}, {64, 128, 65}, {5, 200, 200}, {129, 63, 1000}, {40, 30, -40}}) {
    CudaColumnsCase::Shape shape{.rows = rows, .columns = columns, .seen_by_first = seen};
    all.push_back(shape);
  }
  return all;
}

}  // namespace winnow::kernels::testing
