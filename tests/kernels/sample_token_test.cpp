// The choice of a token: its definition against one written with exponentials and sums in floating point, and against numbers by hand.
#include "kernels/api/sample_token.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "kernels/reference/sample_weights.h"
#include "tests/kernels/changed_arguments.h"
#include "tests/kernels/choose_case.h"

namespace winnow::kernels::testing {
namespace {

constexpr double kUnits = 0x1.0p40;

// Plain: sorted as a whole, probabilities as they are. Returns the ids that a draw may give with rounding of `slack` either way.
std::set<std::int64_t> plain_choices(const ChooseCase& problem, const SampleTokenArgs& args, double slack) {
  struct Candidate {
    std::int64_t id;
    double value;
    double weight;
  };
  std::vector<Candidate> left;
  float best = kNever;
  const auto score_of = [&](std::size_t id) {
    const float logit = problem.logits[id];
    if (args.repetition_penalty == 1.0 || problem.seen[id] == 0) return logit;
    return static_cast<float>(logit < 0 ? logit * args.repetition_penalty : logit / args.repetition_penalty);
  };
  for (std::size_t id = 0; id < problem.logits.size(); ++id) best = std::max(best, score_of(id));
  for (std::size_t id = 0; id < problem.logits.size(); ++id) {
    const double value = (double{score_of(id)} - double{best}) / args.temperature;
    left.push_back({static_cast<std::int64_t>(id), value, std::exp(value)});
  }
  std::ranges::stable_sort(left, [](const auto& a, const auto& b) { return a.value > b.value; });
  if (args.top_k > 0 && args.top_k < std::ssize(left)) {
    const double kth = left[static_cast<std::size_t>(args.top_k - 1)].value;
    std::erase_if(left, [&](const auto& c) { return c.value < kth; });
  }
  double total = 0.0;
  for (const auto& c : left) total += c.weight;
  if (args.top_p < 1.0) {
    double before = 0.0;
    std::size_t kept = 0;
    while (kept < left.size() && (kept == 0 || before < args.top_p * total)) before += left[kept++].weight;
    left.resize(kept);
  }
  std::erase_if(left, [&](const auto& c) { return c.value < std::log(args.min_p); });
  std::ranges::sort(left, {}, &Candidate::id);
  total = 0.0;
  for (const auto& c : left) total += c.weight;
  std::set<std::int64_t> possible;
  for (const double target : {args.uniform * total - slack * total, args.uniform * total, args.uniform * total + slack * total}) {
    double sum = 0.0;
    std::int64_t last = -1;
    for (const auto& c : left) {
      sum += c.weight;
      if (c.weight > 0.0) last = c.id;
      if (sum > target && c.weight > 0.0) break;
    }
    possible.insert(last);
  }
  return possible;
}

TEST(SampleToken, IsThePlainDefinitionsUpToRoundingAtTheBorder) {
  for (const std::int64_t vocabulary : {1, 30, 3000}) {
    for (const SampleTokenArgs& args : testing::every_choice(ChooseCase(vocabulary, 5))) {
      ChooseCase problem(vocabulary, 5);
      const std::int64_t choice = expected_choice(problem, args);  // marks the fresh ids
      if (args.temperature == 0.0) continue;
      // 3000 weights rounded by half a unit each, of which the best alone has 2^40.
      EXPECT_TRUE(plain_choices(problem, args, 1e-8).contains(choice)) << testing::name_of(args) << ": " << choice;
    }
  }
}

TEST(SampleToken, TakesTheBestWhenGreedy) {
  ChooseCase problem(3000, 6);
  for (const double penalty : {1.0, 1.3}) {
    SampleTokenArgs args = problem.args(0.0, 3, 0.5, 0.5);
    args.repetition_penalty = penalty;
    const std::int64_t choice = expected_choice(problem, args);
    const SampleTokenArgs coldest = [&] {
      SampleTokenArgs cold = args;
      cold.temperature = 1e-300;
      cold.top_k = 1;
      return cold;
    }();
    EXPECT_EQ(plain_choices(problem, coldest, 0.0), std::set<std::int64_t>{choice});
  }
}

TEST(SampleToken, EveryIdIsDrawnWhereItsShareOfTheDrawsLies) {
  ChooseCase problem(4, 1);
  problem.logits = {std::log(1.0F), std::log(2.0F), kNever, std::log(5.0F)};
  const auto drawn = [&](double uniform) {
    SampleTokenArgs args = problem.args(1.0, 0, 1.0, 0.0);
    args.uniform = uniform;
    return expected_choice(problem, args);
  };
  EXPECT_EQ(drawn(0.0), 0);
  EXPECT_EQ(drawn(0.1249999), 0);
  EXPECT_EQ(drawn(0.1250001), 1);
  EXPECT_EQ(drawn(0.3749999), 1);
  EXPECT_EQ(drawn(0.3750001), 3);
  EXPECT_EQ(drawn(1.0 - 0x1.0p-53), 3);
}

TEST(SampleToken, MarksFreshIdsAndPenalisesThemOnce) {
  ChooseCase problem(4, 1);
  problem.logits = {4.0F, 3.0F, -2.0F, 1.5F};
  problem.seen = {0, 0, 0, 1};
  problem.fresh = {0, 0, -1, 4, 2};
  SampleTokenArgs args = problem.args(0.0, 0, 1.0, 0.0);
  args.repetition_penalty = 2.0;
  EXPECT_EQ(expected_choice(problem, args), 1) << "4 is halved once";
  EXPECT_EQ(problem.seen, (std::vector<std::uint8_t>{1, 0, 1, 1}));
}

TEST(SampleToken, TiesOfTheKthMayBeAll) {
  ChooseCase problem(3, 1);
  problem.logits = {1.0F, 1.0F, 1.0F + std::log(2.0F)};
  SampleTokenArgs args = problem.args(1.0, 2, 1.0, 0.0);
  for (const auto& [uniform, id] : {std::pair(0.2, 0), {0.3, 1}, {0.51, 2}}) {
    args.uniform = uniform;
    EXPECT_EQ(expected_choice(problem, args), id);
  }
}

TEST(SampleToken, SaysWhyNothingCanBeChosen) {
  for (const double temperature : {0.0, 0.7}) {
    ChooseCase problem(3, 1);
    const auto of = [&](std::vector<float> logits) {
      problem.logits = std::move(logits);
      return expected_choice(problem, problem.args(temperature, 2, 0.5, 0.1));
    };
    EXPECT_EQ(of({1.0F, std::nanf(""), kNever}), kNotANumber);
    EXPECT_EQ(of({1.0F, -kNever, kNever}), kNotANumber);
    EXPECT_EQ(of({kNever, kNever, kNever}), kNothingLeft);
    EXPECT_EQ(of({kNever, kNever, -3e38F}), 2);
  }
}

TEST(SampleWeights, WeightsAreExponentials) {
  EXPECT_EQ(choice_weight(0.0), std::uint64_t{1} << 40);
  EXPECT_EQ(choice_weight(-0.0), std::uint64_t{1} << 40);
  EXPECT_EQ(choice_weight(-1e-300), std::uint64_t{1} << 40);
  for (double value = 0.0; value > -30.0; value -= 0.000713) {
    ASSERT_NEAR(static_cast<double>(choice_weight(value)), std::exp(value) * kUnits, 0.75) << value;
  }
  EXPECT_EQ(choice_weight(-28.5), 0U);
  EXPECT_EQ(choice_weight(kNever), 0U);
}

TEST(SampleWeights, KeysAreInTheOrderOfScoresThenOfIds) {
  const float scores[] = {std::numeric_limits<float>::max(), 7.0F, 7.0F, 1e-45F, 0.0F, -0.0F, -1e-45F, -2.0F, -3e38F, kNever};
  SampleTokenArgs args{.logits = scores};
  for (std::int64_t id = 1; id < 10; ++id) {
    EXPECT_GT(choice_key(args, id - 1), choice_key(args, id)) << id;
    EXPECT_EQ(choice_id(choice_key(args, id)), id);
  }
  EXPECT_GT(choice_key(args, 8), kNeverKey);
  EXPECT_LE(choice_key(args, 9), kNeverKey);
  EXPECT_EQ(choice_value(choice_key(args, 7), choice_key(args, 1), 0.5), -18.0);
  EXPECT_EQ(choice_value(choice_key(args, 9), choice_key(args, 1), 1e300), double{kNever});
}

TEST(SampleWeights, PenalisedScoresStayNumbers) {
  constexpr float kMost = std::numeric_limits<float>::max();
  EXPECT_EQ(choice_score(3.0F, true, 1.5), 2.0F);
  EXPECT_EQ(choice_score(-3.0F, true, 1.5), -4.5F);
  EXPECT_EQ(choice_score(-3.0F, false, 1.5), -3.0F);
  EXPECT_EQ(choice_score(kMost, true, 0.01), kMost);
  EXPECT_EQ(choice_score(-kMost, true, 1e6), -kMost);
  EXPECT_EQ(choice_score(kNever, true, 1.5), kNever);
}

TEST(SampleToken, RefusesBadArguments) {
  float logits[4] = {};
  std::uint64_t workspace[1 + 2 * kChoiceChunk];
  std::uint8_t seen[4] = {};
  std::int64_t choice = 0;
  SampleTokenArgs good{.logits = logits, .vocabulary = 4, .workspace = workspace, .choice = &choice};
  const ChangedArguments expect(good, {&sample_token_reference});
  expect(kOk, [](auto&) {});
  const double nan = std::nan("");
  for (const double bad : {-0.1, nan, static_cast<double>(HUGE_VAL)}) {
    expect(kBad, [&](auto& a) { a.temperature = bad; });
    expect(kBad, [&](auto& a) { a.top_p = bad; });
    expect(kBad, [&](auto& a) { a.min_p = bad; });
    expect(kBad, [&](auto& a) { a.repetition_penalty = bad; });
    expect(kBad, [&](auto& a) { a.uniform = bad; });
  }
  expect(kBad, [](auto& a) { a.uniform = 1.0; });
  expect(kBad, [](auto& a) { a.top_k = -1; });
  expect(kBad, [](auto& a) { a.vocabulary = 0; });
  expect(kTooLarge, [](auto& a) { a.vocabulary = kMaxChoices + 1; });
  expect.needs(&SampleTokenArgs::logits, &SampleTokenArgs::workspace, &SampleTokenArgs::choice);
  expect(kBad, [](auto& a) { a.fresh_count = 1; });
  expect(kBad, [&](auto& a) { a.fresh_count = 1, a.seen = seen; });  // no ids
}

}  // namespace
}  // namespace winnow::kernels::testing
