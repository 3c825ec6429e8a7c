#include "engine/sampling/sampler.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "engine/base/error.h"
#include "engine/sampling/log_probabilities.h"

namespace winnow {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::array<double, 4> frequencies(const Sampling& settings, const std::vector<float>& logits, int draws = 20'000) {
  Sampler sampler(settings);
  std::array<double, 4> share{};
  for (int i = 0; i < draws; ++i) share.at(static_cast<std::size_t>(sampler.sample(logits, {}))) += 1.0 / draws;
  return share;
}
std::set<std::int64_t> support(const Sampling& settings, const std::vector<float>& logits) {
  Sampler sampler(settings);
  std::set<std::int64_t> ids;
  for (int i = 0; i < 3000; ++i) ids.insert(sampler.sample(logits, {}));
  return ids;
}
std::vector<float> log_of(std::initializer_list<double> probabilities) {
  std::vector<float> out;
  for (const double p : probabilities) out.push_back(static_cast<float>(std::log(p)));
  return out;
}

TEST(CounterUniform, IsSplitmix64) {
  // First outputs of splitmix64 with seed 0: e220a8397b1dcdaf, 6e789e6aa1b965f4 (Vigna's reference).
  EXPECT_EQ(counter_uniform(0, 0), static_cast<double>(0xe220a8397b1dcdafull >> 11) / 9007199254740992.0);
  EXPECT_EQ(counter_uniform(0, 1), static_cast<double>(0x6e789e6aa1b965f4ull >> 11) / 9007199254740992.0);
}

TEST(Sampler, TakesTheSmallerIdOfEqualLogitsWhenGreedy) {
  Sampler sampler(Sampling{});
  EXPECT_EQ(sampler.sample(std::vector<float>{1, 3, 3, 2}, {}), 1);
  EXPECT_EQ(sampler.draws(), 1u);
}

TEST(Sampler, PenalisesEverySeenIdOnceAsTransformersDoes) {
  Sampling settings{.repetition_penalty = 2};
  Sampler sampler(settings);
  // 4 / 2 = 2 < 3: the seen best falls behind; seen twice counts once (4 / 4 = 1 would put id 2 first as well, so check both sides).
  const std::vector<std::int64_t> twice = {0, 0, -1, 99};
  EXPECT_EQ(sampler.sample(std::vector<float>{4, 3}, twice), 1);
  EXPECT_EQ(sampler.sample(std::vector<float>{4, 1.5f}, twice), 0);
  // Negative logits are multiplied: -1 * 2 = -2 < -1.5.
  EXPECT_EQ(sampler.sample(std::vector<float>{-1, -1.5f}, std::vector<std::int64_t>{0}), 1);
}

TEST(Sampler, DrawsInProportionToTheSoftmax) {
  Sampling settings{.temperature = 1, .seed = 7};
  const auto share = frequencies(settings, log_of({0.1, 0.2, 0.3, 0.4}));
  // Standard error sqrt(p (1 - p) / 20000) <= 0.0035; four of them.
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(share[i], 0.1 * static_cast<double>(i + 1), 0.014) << i;
}

TEST(Sampler, DividesLogitsByTheTemperature) {
  Sampling settings;
  settings.temperature = 0.5;  // squares the probabilities: 1:4 becomes 1:16
  const auto share = frequencies(settings, {0.0f, std::log(4.0f), -kInf, -kInf});
  EXPECT_NEAR(share[1], 16.0 / 17.0, 0.01);
  EXPECT_EQ(share[2] + share[3], 0.0);
}

TEST(Sampler, RepeatsItselfForTheSameSeedOnly) {
  Sampling settings{.temperature = 1};
  const auto run = [&](std::uint64_t seed) {
    settings.seed = seed;
    Sampler sampler(settings);
    std::vector<std::int64_t> ids;
    for (int i = 0; i < 50; ++i) ids.push_back(sampler.sample(std::vector<float>(100, 0.0f), {}));
    return ids;
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

TEST(Sampler, KeepsTiesOfTheKthInTopK) {
  Sampling settings{.temperature = 1, .top_k = 2};
  EXPECT_EQ(support(settings, {1, 3, 2, 2}), (std::set<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(support(settings, {1, 3, 2, 1.5f}), (std::set<std::int64_t>{1, 2}));
}

TEST(Sampler, KeepsTheSmallestSetThatReachesTopP) {
  Sampling settings{.temperature = 1};
  const auto logits = log_of({0.1, 0.2, 0.3, 0.4});
  settings.top_p = 0.65;  // 0.4, then 0.3 with 0.4 before it; 0.2 has 0.7 before it
  EXPECT_EQ(support(settings, logits), (std::set<std::int64_t>{2, 3}));
  settings.top_p = 0.75;
  EXPECT_EQ(support(settings, logits), (std::set<std::int64_t>{1, 2, 3}));
  settings.top_p = 0.0;
  EXPECT_EQ(support(settings, logits), (std::set<std::int64_t>{3}));
  settings.top_p = 0.5;  // equal probabilities: the smaller ids
  EXPECT_EQ(support(settings, {0, 0, 0, 0}), (std::set<std::int64_t>{0, 1}));
}

TEST(Sampler, DropsWhatIsBelowMinPOfTheBest) {
  Sampling settings;
  settings.temperature = 1;
  settings.min_p = 0.6;  // of 0.4: 0.24
  EXPECT_EQ(support(settings, log_of({0.1, 0.2, 0.3, 0.4})), (std::set<std::int64_t>{2, 3}));
  settings.min_p = 1;
  EXPECT_EQ(support(settings, {1, 2, 2, 0}), (std::set<std::int64_t>{1, 2}));
}

// The order of transformers' processors: repetition penalty, temperature, top-k, top-p, min-p. Each claim fails for the other order.
TEST(Sampler, ProcessesInTheOrderOfTransformers) {
  const auto logits = log_of({0.1, 0.2, 0.3, 0.4});
  Sampling settings;
  settings.temperature = 0.5;  // 1 : 4 : 9 : 16, of 30
  settings.top_p = 0.5;
  EXPECT_EQ(support(settings, logits), (std::set<std::int64_t>{3})) << "16/30 reach it; 0.4 would not";
  settings.top_p = 1.0;
  settings.min_p = 0.3;
  EXPECT_EQ(support(settings, logits), (std::set<std::int64_t>{2, 3})) << "4/16 are below it; 0.2/0.4 would not be";
  settings = {};
  settings.temperature = 1;
  settings.top_k = 2;
  settings.top_p = 0.5;
  EXPECT_EQ(support(settings, logits), (std::set<std::int64_t>{3})) << "of the two best it has 4/7";
  settings.top_p = 1.0;
  settings.top_k = 1;
  settings.repetition_penalty = 2;
  Sampler penalised(settings);
  EXPECT_EQ(penalised.sample(std::vector<float>{4, 3}, std::vector<std::int64_t>{0}), 1) << "4 is halved before the best is chosen";
}

TEST(SamplingChoice, StandsInPlaceOfWhatItNamesOnly) {
  SamplingChoice choice;
  EXPECT_TRUE(choice.empty());
  Sampling base{.stop_strings = {"END"}};
  EXPECT_EQ(with_choice(base, choice), base);
  choice.temperature = 0.0;
  EXPECT_FALSE(choice.empty()) << "greedy is a choice, too";
  choice.top_p = 0.8;
  choice.seed = 9;
  Sampling expected = base;
  expected.temperature = 0.0;
  expected.top_p = 0.8;
  expected.seed = 9;
  base.temperature = 0.7;
  EXPECT_EQ(with_choice(base, choice), expected);
}

TEST(Sampler, AlwaysHasACandidate) {
  const std::vector<std::vector<float>> cases = {{-kInf, -kInf, 5}, {3.4e38f, -3.4e38f}, {1e-45f, 0}, {0}, {-kInf, 0}};
  for (const double temperature : {1e-300, 1e-3, 1.0, 1e300}) {
    for (const int top_k : {0, 1, 1000}) {
      for (const double p : {0.0, 0.5, 1.0}) {
        for (const auto& logits : cases) {
          Sampler sampler({temperature, top_k, p, p, 1.3, 11, 1, {}, {}});
          const std::int64_t id = sampler.sample(logits, std::vector<std::int64_t>{0});
          ASSERT_GE(id, 0);
          ASSERT_LT(static_cast<std::size_t>(id), logits.size());
          ASSERT_GT(logits[static_cast<std::size_t>(id)], -kInf);
        }
      }
    }
  }
}

TEST(Sampler, RefusesLogitsThatAreNotNumbers) {
  for (const auto& logits : {std::vector<float>{1, kNan}, std::vector<float>{kInf, 1}, std::vector<float>{-kInf, -kInf}}) {
    for (const double temperature : {0.0, 1.0}) {
      Sampling settings{.temperature = temperature};
      Sampler sampler(settings);
      try {
        sampler.sample(logits, {});
        ADD_FAILURE() << "accepted";
      } catch (const Exception& error) {
        EXPECT_EQ(error.error().code, ErrorCode::kNumericFailure);
      }
    }
  }
}

TEST(Sampler, RefusesSettingsOutsideTheirRange) {
  const auto refused = [](auto&& change) {
    Sampling settings;
    change(settings);
    EXPECT_THROW(Sampler{settings}, Exception);
  };
  for (const double bad : {-0.1, std::nan(""), static_cast<double>(kInf)}) {
    refused([&](Sampling& s) { s.temperature = bad; });
    refused([&](Sampling& s) { s.top_p = bad; });
    refused([&](Sampling& s) { s.min_p = bad; });
    refused([&](Sampling& s) { s.repetition_penalty = bad; });
  }
  refused([&](Sampling& s) { s.top_k = -1; });
  refused([&](Sampling& s) { s.top_p = 1.01; });
  refused([&](Sampling& s) { s.repetition_penalty = 0; });
}

TEST(LogProbabilities, AreTheLogarithmOfTheSoftmax) {
  // Logits ln 1, ln 2, ln 5 moved by 700, where exp() alone would overflow.
  const std::vector<float> logits = {700.0F, 700.0F + std::log(2.0F), 700.0F + std::log(5.0F)};
  const LogProbabilities of(logits);
  EXPECT_NEAR(std::exp(of[0]), 1.0 / 8, 1e-4);
  EXPECT_NEAR(std::exp(of[1]), 2.0 / 8, 1e-4);
  EXPECT_NEAR(std::exp(of[2]), 5.0 / 8, 1e-4);
}

TEST(LogProbabilities, TheLikeliestComeFirstAndEqualOnesByTheirIds) {
  const std::vector<float> logits = {1.0F, 3.0F, -std::numeric_limits<float>::infinity(), 3.0F, 2.0F};
  const LogProbabilities of(logits);
  EXPECT_EQ(of.likeliest(3), (std::vector<std::int64_t>{1, 3, 4}));
  EXPECT_EQ(of.likeliest(0), std::vector<std::int64_t>());
  EXPECT_EQ(of.likeliest(99), (std::vector<std::int64_t>{1, 3, 4, 0, 2}));
  EXPECT_EQ(of[2], -std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace winnow
