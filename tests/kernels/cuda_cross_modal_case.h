// Rows and columns that look at each other: every third of them is of the other kind, as lists; and how near an entropy has to be.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/api/cuda_cross_modal_entropy.h"
#include "tests/kernels/cuda_columns_case.h"

namespace winnow::kernels::testing {

class CudaCrossModalCase {
 public:
  static constexpr double kBegun = 3.0;  // entropies are added to

  // Where they lie, here or on a device. seen: null: every row sees all.
  struct Memory {
    const std::byte* query;
    const std::byte* key;
    const std::int32_t* row_of;
    const std::int32_t* column_of;
    const std::int32_t* seen;
    double* entropy;
    void* workspace;
  };

  // Of as many rows and columns as the shape has; seen_by_first is not used.
  explicit CudaCrossModalCase(const CudaColumnsCase::Shape& shape) : numbers(shape) {
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      if (row % 3 == 0) row_of.push_back(static_cast<std::int32_t>(row));
    }
    for (std::int64_t column = 0; column < shape.columns; ++column) {
      if (column % 3 != 0 || shape.columns == 1) column_of.push_back(static_cast<std::int32_t>(column));
    }
    for (const std::int32_t row : row_of) {
      seen.push_back(static_cast<std::int32_t>(std::ranges::lower_bound(column_of, row) - column_of.begin()));
    }
  }

  CudaCrossModalArgs args(const Memory& memory, std::int64_t parts, bool mean_first) const {
    CudaCrossModalArgs args;
    static_cast<CudaLogits&>(args) = numbers.logits(memory.query, memory.key);
    args.rows = std::ssize(row_of);
    args.columns = std::ssize(column_of);
    args.seen_by_first = memory.seen != nullptr ? -1'000'000 : args.columns;  // the table is in place of it
    args.seen = memory.seen;
    args.parts = parts;
    args.row_of = memory.row_of;
    args.column_of = memory.column_of;
    args.mean_first = mean_first;
    args.entropy = memory.entropy;
    args.workspace = memory.workspace;
    return args;
  }
  Memory here(double& entropy, void* workspace, bool causal) const {
    return {numbers.query.data(), numbers.key.data(), row_of.data(), column_of.data(), causal ? seen.data() : nullptr, &entropy, workspace};
  }

  // Rounding in fp32 only. Logits of standard normals are below 6, so that their error is below 6 * head_dim * 2^-24 and that of a
  // probability, which a log-sum-exp divides, twice as much of it; it is multiplied by ln p, whose mean is the entropy, and moves ln p
  // itself.
  void expect_near(double actual, bool causal, bool mean_first) const {
    double expected = kBegun, unused = 0.0;
    ASSERT_EQ(cuda_cross_modal_entropy_reference(args(here(expected, &unused, causal), 1, mean_first)), LaunchStatus::kOk);
    const auto rows = static_cast<double>(row_of.size());
    ASSERT_TRUE(causal || column_of.size() < 2 || expected - kBegun > 0.1 * rows) << "a test that could not fail";
    const double relative = (12.0 * static_cast<double>(numbers.shape.head_dim) + static_cast<double>(numbers.heads()) + 64.0) * 0x1p-24;
    ASSERT_NEAR(actual, expected, relative * (expected + 2.0 * rows));
  }

  CudaColumnsCase numbers;
  std::vector<std::int32_t> row_of, column_of, seen;
};

}  // namespace winnow::kernels::testing
