#include "kernels/api/column_sums.h"

#include <gtest/gtest.h>

#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/reference/element.h"
#include "tests/kernels/changed_arguments.h"
#include "tests/kernels/narrow.h"

namespace winnow::kernels::testing {
namespace {

// Queries and keys lie in wider rows, as slices of a projection do. The log-sum-exp is the rows' own, so that probabilities sum to 1.
class Problem {
 public:
  Problem(ElementType type, std::int64_t head_dim, std::int64_t group, std::int64_t rows, std::int64_t columns, std::int64_t seen_by_first)
      : type_(type), head_dim_(head_dim), group_(group), rows_(rows), columns_(columns), seen_by_first_(seen_by_first) {
    std::mt19937 random(static_cast<unsigned>(head_dim * 31 + group * 7 + rows + columns));
    std::normal_distribution<float> normal;
    query_.resize(static_cast<std::size_t>(group * rows * stride()) * 4);
    key_.resize(static_cast<std::size_t>(columns * stride()) * 4);
    for (std::int64_t i = 0; i < group * rows * stride(); ++i) testing::put(query_.data(), type, i, normal(random));
    for (std::int64_t i = 0; i < columns * stride(); ++i) testing::put(key_.data(), type, i, normal(random));
    for (std::int64_t head = 0; head < group; ++head) {
      for (std::int64_t row = 0; row < rows; ++row) {
        double sum = 0.0;
        for (std::int64_t column = 0; column < std::min(columns, seen_by_first + row); ++column) sum += std::exp(logit(head, row, column));
        log_sum_exp_.push_back(sum > 0.0 ? static_cast<float>(std::log(sum)) : 0.0F);
      }
    }
    workspace_.resize(static_cast<std::size_t>((kColumnTile + kColumnRows) * head_dim));
  }

  struct Result {
    std::vector<float> sums;
    std::vector<float> squares;
    std::vector<double> entropy;
  };
  // Results begin at 1, to see that they are added to.
  ColumnSumsArgs args(Result& result) {
    result.sums.assign(static_cast<std::size_t>(group_ * (columns_ + 3)), 1.0F);
    result.squares.assign(static_cast<std::size_t>(columns_), 1.0F);
    result.entropy.assign(static_cast<std::size_t>(group_), 1.0);
    ColumnSumsArgs args{.type = type_,
                        .query = query_.data(),
                        .query_head_stride = rows_ * stride(),
                        .query_row_stride = stride(),
                        .group = group_,
                        .rows = rows_,
                        .key = key_.data()};
    args.key_stride = stride();
    args.columns = columns_;
    args.head_dim = head_dim_;
    args.seen_by_first = seen_by_first_;
    args.scale = scale();
    args.log_sum_exp = log_sum_exp_.data();
    args.log_sum_exp_stride = rows_;
    args.sums = result.sums.data();
    args.sums_stride = columns_ + 3;
    args.squares = result.squares.data();
    args.entropy = result.entropy.data();
    args.workspace = workspace_.data();
    return args;
  }
  std::vector<std::byte>& key() { return key_; }
  std::int64_t stride() const { return head_dim_ + 5; }

 private:
  float scale() const { return 1.0F / std::sqrt(static_cast<float>(head_dim_)); }
  double logit(std::int64_t head, std::int64_t row, std::int64_t column) const {
    double sum = 0.0;
    for (std::int64_t i = 0; i < head_dim_; ++i) {
      sum += element(query_.data(), type_, (head * rows_ + row) * stride() + i) * element(key_.data(), type_, column * stride() + i);
    }
    return sum * static_cast<double>(scale());
  }

  ElementType type_;
  std::int64_t head_dim_, group_, rows_, columns_, seen_by_first_;
  std::vector<std::byte> query_, key_;
  std::vector<float> log_sum_exp_, workspace_;
};

// fp32 rounding only: a logit is a sum of head_dim terms, a sum one of rows of them, all positive. Logits of standard normals are below 6,
// so that their error is below 6 * head_dim * 2^-24, which is the relative error of a probability.
double tolerance(std::int64_t head_dim, std::int64_t rows) {
  constexpr double kEps = 5.960464477539063e-8;
  return (6.0 * static_cast<double>(head_dim) + static_cast<double>(std::min<std::int64_t>(rows, 64) + rows / 64) + 8.0) * kEps;
}

void expect_equal_to_reference(Problem& problem, std::int64_t head_dim, std::int64_t rows) {
  Problem::Result expected, actual;
  ASSERT_EQ(column_sums_reference(problem.args(expected)), LaunchStatus::kOk);
  ASSERT_EQ(column_sums_cpu(problem.args(actual)), LaunchStatus::kOk);
  const double relative = tolerance(head_dim, rows);
  for (std::size_t i = 0; i < expected.sums.size(); ++i) ASSERT_NEAR(actual.sums[i], expected.sums[i], relative * expected.sums[i]) << i;
  for (std::size_t i = 0; i < expected.squares.size(); ++i)
    ASSERT_NEAR(actual.squares[i], expected.squares[i], 2.0 * relative * expected.squares[i]) << i;
  // ln p has the error of a logit; the sum of p is 1 a row.
  for (std::size_t i = 0; i < expected.entropy.size(); ++i) {
    ASSERT_NEAR(actual.entropy[i], expected.entropy[i], relative * (std::abs(expected.entropy[i]) + static_cast<double>(rows))) << i;
  }
}

TEST(ColumnSums, EqualTheReferenceOverTheGridOnEveryInstructionSet) {
  struct Size {
    std::int64_t rows, columns, seen_by_first;
  };
  const std::vector<Size> sizes = {{1, 1, 1},      {1, 70, 70},   {5, 5, 1},    {64, 64, 1},    {65, 65, 1},
                                   {130, 200, 71}, {200, 130, 1}, {90, 40, 40}, {100, 60, -30}, {3, 20, -30}};
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (const ElementType type : {ElementType::kFp32, ElementType::kBf16, ElementType::kFp16}) {
      for (const std::int64_t head_dim : {1, 12, 64, 80}) {
        for (const std::int64_t group : {1, 3, 7}) {
          for (const Size& size : sizes) {
            SCOPED_TRACE(::testing::Message() << hwy::TargetName(target) << " type " << static_cast<int>(type) << " head_dim " << head_dim
                                              << " group " << group << " rows " << size.rows << " columns " << size.columns
                                              << " seen by first " << size.seen_by_first);
            Problem problem(type, head_dim, group, size.rows, size.columns, size.seen_by_first);
            expect_equal_to_reference(problem, head_dim, size.rows);
            if (HasFatalFailure()) {
              hwy::SetSupportedTargetsForTest(0);
              return;
            }
          }
        }
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(ColumnSums, TakeAsManyQueryHeadsAsAllowed) {
  Problem problem(ElementType::kFp32, 16, kMaxGroup, 70, 70, 1);
  expect_equal_to_reference(problem, 16, 70);
}

// Every row's probabilities sum to 1, so the sums of all columns together are the number of rows; uniform attention is known by hand.
TEST(ColumnSums, AreThoseOfProbabilities) {
  Problem problem(ElementType::kBf16, 64, 2, 150, 150, 1);
  Problem::Result result;
  ASSERT_EQ(column_sums_cpu(problem.args(result)), LaunchStatus::kOk);
  for (std::size_t head = 0; head < 2; ++head) {
    double sum = 0.0;
    for (std::size_t column = 0; column < 150; ++column) sum += static_cast<double>(result.sums[head * 153 + column]) - 1.0;
    EXPECT_NEAR(sum, 150.0, 1e-3);
    for (std::size_t beside = 150; beside < 153; ++beside) EXPECT_EQ(result.sums[head * 153 + beside], 1.0F) << "not a column";
  }

  // Keys of zeros: row r gives 1 / (r + 1) to each of its r + 1 columns.
  std::fill(problem.key().begin(), problem.key().end(), std::byte{0});
  std::vector<float> uniform;
  for (int head = 0; head < 2; ++head) {
    for (int row = 0; row < 150; ++row) uniform.push_back(std::log(static_cast<float>(row + 1)));
  }
  ColumnSumsArgs args = problem.args(result);
  args.log_sum_exp = uniform.data();
  ASSERT_EQ(column_sums_cpu(args), LaunchStatus::kOk);
  double expected = 1.0, squared = 1.0, entropy = 1.0;
  for (int column = 149; column >= 0; --column) {
    expected += 1.0 / (column + 1);
    squared += 1.0 / ((column + 1.0) * (column + 1.0));
    entropy += std::log(column + 1.0);
    EXPECT_NEAR(result.sums[static_cast<std::size_t>(column)], expected, 1e-4) << column;
    EXPECT_NEAR(result.squares[static_cast<std::size_t>(column)], squared, 1e-4) << column;
  }
  EXPECT_NEAR(result.entropy[0], entropy, 1e-3);
}

// The parts of a job on several threads: each has its own columns.
TEST(ColumnSums, OfPartsAreThoseOfTheWhole) {
  Problem problem(ElementType::kFp32, 32, 3, 180, 180, 1);
  Problem::Result whole, parts;
  ASSERT_EQ(column_sums_cpu(problem.args(whole)), LaunchStatus::kOk);
  const ColumnSumsArgs all = problem.args(parts);
  for (std::int64_t first = 0; first < 180; first += 64) {
    ColumnSumsArgs part = all;
    part.key = static_cast<const float*>(all.key) + first * all.key_stride;
    part.columns = std::min<std::int64_t>(64, 180 - first);
    part.seen_by_first = all.seen_by_first - first;
    part.sums = all.sums + first;
    part.squares = all.squares + first;
    ASSERT_EQ(column_sums_cpu(part), LaunchStatus::kOk);
  }
  EXPECT_EQ(parts.sums, whole.sums);
  EXPECT_EQ(parts.squares, whole.squares);
  for (std::size_t head = 0; head < 3; ++head) EXPECT_NEAR(parts.entropy[head], whole.entropy[head], 1e-6);
}

TEST(ColumnSums, DamageStaysVisible) {
  Problem problem(ElementType::kFp32, 16, 1, 100, 100, 1);
  testing::put(problem.key().data(), ElementType::kFp32, 40 * problem.stride() + 3, std::numeric_limits<float>::quiet_NaN());
  Problem::Result result;
  ASSERT_EQ(column_sums_cpu(problem.args(result)), LaunchStatus::kOk);
  for (std::size_t column = 0; column < 100; ++column) EXPECT_EQ(std::isnan(result.sums[column]), column == 40) << column;
  EXPECT_TRUE(std::isnan(result.squares[40]));
  EXPECT_TRUE(std::isnan(result.entropy[0]));
}

TEST(ColumnSums, RefuseWhatTheyCannotRead) {
  Problem problem(ElementType::kFp32, 8, 2, 4, 4, 1);
  Problem::Result result;
  const ChangedArguments expect(problem.args(result), {&column_sums_reference, &column_sums_cpu});
  expect.needs(&ColumnSumsArgs::query, &ColumnSumsArgs::key, &ColumnSumsArgs::log_sum_exp, &ColumnSumsArgs::sums,
               &ColumnSumsArgs::workspace);
  expect(kBad, [](auto& args) { args.rows = -1; });
  expect(kBad, [](auto& args) { args.group = 0; });
  expect(kBad, [](auto& args) { args.type = static_cast<ElementType>(9); });
  expect(kTooLarge, [](auto& args) { args.group = kMaxGroup + 1; });
  expect(kTooLarge, [](auto& args) { args.head_dim = kMaxHeadDim + 1; });
  expect(kOk, [](auto& args) { args.rows = 0; });
  expect(kOk, [](auto& args) { args.columns = 0; });
  expect(kOk, [](auto& args) { args.squares = nullptr, args.entropy = nullptr; });
}

}  // namespace
}  // namespace winnow::kernels::testing
