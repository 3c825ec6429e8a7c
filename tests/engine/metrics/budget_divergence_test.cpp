// methods' fixtures 5.6.
#include "engine/metrics/budget_divergence.h"

#include <gtest/gtest.h>

#include <vector>

#include "engine/base/error.h"

namespace winnow {
namespace {

double of(const std::vector<double>& budgets) { return divergence_from_uniform(budgets); }

TEST(BudgetDivergence, FollowsTheFixture) {
  EXPECT_NEAR(of({3, 1, 2}), 0.032530, 1e-6);
  EXPECT_NEAR(of({10, 1, 1}), 0.195710, 1e-6);
  EXPECT_NEAR(of({6, 0, 0}), 0.459148, 1e-6);
}

TEST(BudgetDivergence, IsZeroForTheSameSharesAndOneForDisjointOnes) {
  EXPECT_EQ(of({7, 7, 7, 7}), 0.0);
  EXPECT_EQ(of({}), 0.0);
  EXPECT_NEAR(jensen_shannon_divergence(std::vector<double>{1, 3}, std::vector<double>{10, 30}), 0.0, 1e-15);
  EXPECT_NEAR(jensen_shannon_divergence(std::vector<double>{1, 0}, std::vector<double>{0, 5}), 1.0, 1e-15);
}

TEST(BudgetDivergence, IsSymmetric) {
  const std::vector<double> p = {5, 2, 9};
  const std::vector<double> q = {1, 8, 3};
  EXPECT_DOUBLE_EQ(jensen_shannon_divergence(p, q), jensen_shannon_divergence(q, p));
}

TEST(BudgetDivergence, RefusesUnequalLengths) {
  EXPECT_THROW(jensen_shannon_divergence(std::vector<double>{1}, std::vector<double>{1, 2}), Exception);
}

}  // namespace
}  // namespace winnow
