// Rows of logits at random, of which some have begun with a larger one elsewhere, and how near their maxima and counts have to be.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/api/cuda_row_sparsity.h"
#include "kernels/reference/device_logit.h"
#include "tests/kernels/cuda_columns_case.h"

namespace winnow::kernels::testing {

class CudaSparsityCase {
 public:
  static constexpr float kBehind = -7.0F;      // stands behind every head's rows
  static constexpr std::int64_t kBegun = 100;  // counts are added to
  static constexpr float kNone = -std::numeric_limits<float>::infinity();
  static constexpr double kShare = 0.2;

  struct Result {
    std::vector<float> maxima;
    std::vector<std::int64_t> counts;
  };
  // Where they lie, here or on a device. seen: null: the shape's seen_by_first.
  struct Memory {
    const std::byte* query;
    const std::byte* key;
    const std::int32_t* seen;
    float* maxima;
    std::int64_t* counts;
  };

  explicit CudaSparsityCase(const CudaColumnsCase::Shape& shape) : numbers(shape) {
    for (std::int64_t row = 0; row < shape.rows; ++row) {  // as rows of which some see each other
      const std::int64_t last = row % 10 < 4 ? row - row % 10 + 3 : row;
      seen.push_back(static_cast<std::int32_t>(std::clamp<std::int64_t>(shape.seen_by_first + last, 0, shape.columns)));
    }
  }

  // As the kernels find it.
  Result begun() const {
    Result result{{}, std::vector<std::int64_t>(static_cast<std::size_t>(numbers.heads()), kBegun)};
    for (std::int64_t head = 0; head < numbers.heads(); ++head) {
      for (std::int64_t row = 0; row < numbers.shape.rows; ++row) result.maxima.push_back(begun(head, row));
      result.maxima.insert(result.maxima.end(), CudaColumnsCase::kBeside, kBehind);
    }
    return result;
  }

  CudaRowMaximaArgs maxima_args(const Memory& memory, std::int64_t parts) const {
    CudaRowMaximaArgs args;
    set_seen(args, memory, parts);
    args.maxima = memory.maxima;
    args.maxima_stride = stride();
    return args;
  }
  CudaCountBelowArgs count_args(const Memory& memory, std::int64_t parts) const {
    CudaCountBelowArgs args;
    set_seen(args, memory, parts);
    args.maxima = memory.maxima;
    args.maxima_stride = stride();
    args.below = static_cast<float>(std::log(kShare));
    args.counts = memory.counts;
    return args;
  }
  Memory here(Result& result, bool by_table) const {
    return {numbers.query.data(), numbers.key.data(), by_table ? seen.data() : nullptr, result.maxima.data(), result.counts.data()};
  }

  // Rounding in fp32 only: a product of head_dim terms is wrong by that many roundings of the sum of their magnitudes, and one of scale.
  // What lies within that of a threshold may fall on either side.
  void expect_near(const Result& actual, bool by_table) const {
    const CudaLogits logits = numbers.logits(numbers.query.data(), numbers.key.data());
    for (std::int64_t head = 0; head < numbers.heads(); ++head) {
      std::int64_t least = kBegun, most = kBegun;
      for (std::int64_t row = 0; row < numbers.shape.rows; ++row) {
        const std::int64_t sees = by_table ? seen[static_cast<std::size_t>(row)] : numbers.shape.seen_by_first + row;
        std::vector<double> exact, errors;
        double highest = begun(head, row), error = 0.0;
        for (std::int64_t column = 0; column < std::min(numbers.shape.columns, sees); ++column) {
          exact.push_back(device_logit(logits, head, row, column));
          errors.push_back(0x1p-24 * static_cast<double>(logits.head_dim + 2) * magnitude(logits, head, row, column));
          highest = std::max(highest, exact.back());
          error = std::max(error, errors.back());
        }
        const auto at = static_cast<std::size_t>(head * stride() + row);
        if (highest == static_cast<double>(kNone)) {
          ASSERT_EQ(actual.maxima[at], kNone) << "head " << head << " row " << row;
        } else {
          ASSERT_NEAR(actual.maxima[at], highest, error) << "head " << head << " row " << row;
        }
        const double threshold = highest + std::log(kShare);
        const double margin = error + 0x1p-22 * (std::abs(highest) + 2.0);
        for (std::size_t column = 0; column < exact.size(); ++column) {
          least += exact[column] + errors[column] < threshold - margin ? 1 : 0;
          most += exact[column] - errors[column] < threshold + margin ? 1 : 0;
        }
      }
      ASSERT_LE(most - least, 4 + (most - kBegun) / 500) << "a test that could not fail";
      ASSERT_GE(actual.counts[static_cast<std::size_t>(head)], least) << "head " << head;
      ASSERT_LE(actual.counts[static_cast<std::size_t>(head)], most) << "head " << head;
      for (std::int64_t i = 0; i < CudaColumnsCase::kBeside; ++i) {
        ASSERT_EQ(actual.maxima[static_cast<std::size_t>(head * stride() + numbers.shape.rows + i)], kBehind);
      }
    }
  }

  std::int64_t stride() const { return numbers.shape.rows + CudaColumnsCase::kBeside; }

  const CudaColumnsCase numbers;
  std::vector<std::int32_t> seen;  // [rows], ascending

 private:
  // What the row's largest logit elsewhere was, as of retained slots.
  static float begun(std::int64_t head, std::int64_t row) { return (head + row) % 5 == 0 ? 2.5F : kNone; }

  void set_seen(CudaSeenLogits& args, const Memory& memory, std::int64_t parts) const {
    static_cast<CudaLogits&>(args) = numbers.logits(memory.query, memory.key);
    args.seen_by_first = memory.seen != nullptr ? -1'000'000 : numbers.shape.seen_by_first;  // the table is in place of it
    args.seen = memory.seen;
    args.parts = parts;
  }

  static double magnitude(const CudaLogits& logits, std::int64_t head, std::int64_t row, std::int64_t column) {
    double sum = 0.0;
    for (std::int64_t i = 0; i < logits.head_dim; ++i) {
      sum += std::abs(element(logits.query, logits.type, head * logits.query_head_stride + row * logits.query_row_stride + i) *
                      element(logits.key, logits.type, head / logits.group * logits.key_head_stride + column * logits.key_row_stride + i));
    }
    return sum * static_cast<double>(logits.scale);
  }
};

}  // namespace winnow::kernels::testing
