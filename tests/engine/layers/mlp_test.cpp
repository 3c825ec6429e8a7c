#include "engine/layers/mlp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/support/tensor_distance.h"

namespace winnow {
namespace {

constexpr std::int64_t kHidden = 6;
constexpr std::int64_t kInner = 4;

ExpertMlp experts(std::int64_t count, std::int64_t chosen) {
  at::manual_seed(7);
  ExpertMlp mlp;
  mlp.router.weight = at::randn({count, kHidden});
  mlp.chosen = chosen;
  for (std::int64_t expert = 0; expert < count; ++expert)
    mlp.experts.push_back({{at::randn({2 * kInner, kHidden}), {}}, {at::randn({kHidden, kInner}), {}}, Activation::kSilu});
  return mlp;
}

// Row by row, every expert asked, those that are not chosen weighed with nothing.
at::Tensor weighed_by_hand(const ExpertMlp& mlp, const at::Tensor& input) {
  at::Tensor sum = at::zeros_like(input);
  for (std::int64_t row = 0; row < input.size(0); ++row) {
    const at::Tensor one = input.narrow(0, row, 1);
    const at::Tensor probabilities = at::softmax(mlp.router(one), 1).flatten();
    const at::Tensor order = probabilities.argsort(0, /*descending=*/true);
    double total = 0.0;
    for (std::int64_t i = 0; i < mlp.chosen; ++i) total += probabilities[order[i].item<std::int64_t>()].item<double>();
    for (std::int64_t i = 0; i < mlp.chosen; ++i) {
      const auto expert = order[i].item<std::int64_t>();
      const double weight = probabilities[expert].item<double>() / (mlp.sums_to_one ? total : 1.0);
      sum.narrow(0, row, 1).add_(mlp.experts[static_cast<std::size_t>(expert)](one), weight);
    }
  }
  return sum;
}

TEST(ExpertMlp, WeighsWhatTheBestExpertsOfEachTokenSay) {
  c10::InferenceMode inference;
  ExpertMlp mlp = experts(5, 2);
  const at::Tensor input = at::randn({9, kHidden});
  EXPECT_LE(test_support::relative_distance(mlp(input), weighed_by_hand(mlp, input)), 1e-5);
  mlp.sums_to_one = false;
  EXPECT_LE(test_support::relative_distance(mlp(input), weighed_by_hand(mlp, input)), 1e-5);
}

TEST(ExpertMlp, AddsTheSharedExpertAsItsGateSays) {
  c10::InferenceMode inference;
  ExpertMlp mlp = experts(5, 2);
  const at::Tensor input = at::randn({9, kHidden});
  const at::Tensor chosen = mlp(input);
  mlp.shared = {Linear{at::randn({1, kHidden}), {}}, {{at::randn({6, kHidden}), {}}, {at::randn({kHidden, 3}), {}}, Activation::kSilu}};
  const at::Tensor gate = at::linear(input, mlp.shared->gate->weight.columns(0, kHidden)).sigmoid();  // [9, 1]
  EXPECT_LE(test_support::relative_distance(mlp(input), chosen + gate * mlp.shared->mlp(input)), 1e-6);
}

// Without a gate of its own it is added as it is.
TEST(ExpertMlp, AddsTheSharedExpertWhole) {
  c10::InferenceMode inference;
  ExpertMlp mlp = experts(5, 2);
  const at::Tensor input = at::randn({9, kHidden});
  const at::Tensor chosen = mlp(input);
  mlp.shared = {std::nullopt, {{at::randn({6, kHidden}), {}}, {at::randn({kHidden, 3}), {}}, Activation::kSilu}};
  EXPECT_LE(test_support::relative_distance(mlp(input), chosen + mlp.shared->mlp(input)), 1e-6);
}

// Row by row: the experts of the best groups by their two best, then the best of those by score and bias; scores alone weigh.
at::Tensor weighed_by_sigmoids(const ExpertMlp& mlp, const at::Tensor& input) {
  const SigmoidChoice& rule = *mlp.sigmoid;
  const auto count = static_cast<std::int64_t>(mlp.experts.size());
  const std::int64_t each = count / rule.groups;
  at::Tensor sum = at::zeros_like(input);
  for (std::int64_t row = 0; row < input.size(0); ++row) {
    const at::Tensor one = input.narrow(0, row, 1);
    std::vector<double> score, wanted;
    for (std::int64_t expert = 0; expert < count; ++expert) {
      const double logit = mlp.router(one)[0][expert].item<double>();
      score.push_back(1.0 / (1.0 + std::exp(-logit)));
      wanted.push_back(score.back() + rule.bias[expert].item<double>());
    }
    std::vector<std::pair<double, std::int64_t>> groups;
    for (std::int64_t group = 0; group < rule.groups; ++group) {
      std::vector<double> of_group(wanted.begin() + group * each, wanted.begin() + (group + 1) * each);
      std::ranges::sort(of_group, std::greater());
      groups.emplace_back(of_group[0] + of_group[1], group);
    }
    std::ranges::sort(groups, std::greater());
    std::vector<std::pair<double, std::int64_t>> best;
    for (std::int64_t place = 0; place < rule.chosen_groups; ++place) {
      for (std::int64_t inside = 0; inside < each; ++inside) {
        const std::int64_t expert = groups[static_cast<std::size_t>(place)].second * each + inside;
        best.emplace_back(wanted[static_cast<std::size_t>(expert)], expert);
      }
    }
    std::ranges::sort(best, std::greater());
    best.resize(static_cast<std::size_t>(mlp.chosen));
    double total = 0.0;
    for (const auto& [unused, expert] : best) total += score[static_cast<std::size_t>(expert)];
    for (const auto& [unused, expert] : best) {
      const double weight = score[static_cast<std::size_t>(expert)] / (mlp.sums_to_one ? total : 1.0) * rule.factor;
      sum.narrow(0, row, 1).add_(mlp.experts[static_cast<std::size_t>(expert)](one), weight);
    }
  }
  return sum;
}

TEST(ExpertMlp, SigmoidsChooseWithABiasAndWeighWithout) {
  c10::InferenceMode inference;
  ExpertMlp mlp = experts(8, 3);
  const at::Tensor input = at::randn({20, kHidden});
  const at::Tensor by_softmax = mlp(input);
  mlp.sigmoid = {at::zeros({8}), 1, 1, 1.0};
  const at::Tensor unbiased = mlp(input);
  EXPECT_GT(test_support::relative_distance(unbiased, by_softmax), 1e-2);
  mlp.sigmoid->bias = at::randn({8}) * 0.5;
  EXPECT_GT(test_support::relative_distance(mlp(input), unbiased), 1e-2) << "other experts are chosen";
  for (const bool sums_to_one : {true, false}) {
    mlp.sums_to_one = sums_to_one;
    mlp.sigmoid->factor = sums_to_one ? 1.0 : 2.5;
    for (const auto& [groups, chosen] : {std::pair(1, 1), std::pair(4, 2), std::pair(4, 4), std::pair(2, 1)}) {
      mlp.sigmoid->groups = groups;
      mlp.sigmoid->chosen_groups = chosen;
      EXPECT_LE(test_support::relative_distance(mlp(input), weighed_by_sigmoids(mlp, input)), 1e-5) << groups << ", " << chosen;
      EXPECT_LE(test_support::relative_distance(mlp(input.narrow(0, 4, 1)), weighed_by_sigmoids(mlp, input.narrow(0, 4, 1))), 1e-5);
    }
  }
}

TEST(ExpertMlp, ARouterMayReadOtherRowsAndExpertsHaveScales) {
  c10::InferenceMode inference;
  ExpertMlp mlp = experts(5, 2);
  const at::Tensor asking = at::randn({9, kHidden});
  const at::Tensor input = at::randn({9, kHidden});
  EXPECT_TRUE(at::equal(mlp.routed(input, input), mlp(input)));
  mlp.scales = at::rand({5}).add(0.5);
  auto [weights, best] = at::softmax(mlp.router(asking), -1, at::kFloat).topk(2, -1);
  weights = weights / weights.sum(-1, /*keepdim=*/true);
  at::Tensor sum = at::zeros_like(input);
  for (std::int64_t row = 0; row < 9; ++row) {
    for (std::int64_t i = 0; i < 2; ++i) {
      const auto expert = best[row][i].item<std::int64_t>();
      sum[row] += mlp.experts[static_cast<std::size_t>(expert)](input.narrow(0, row, 1))[0] * weights[row][i] * mlp.scales[expert];
    }
  }
  EXPECT_LE(test_support::relative_distance(mlp.routed(asking, input), sum), 1e-5);
}

TEST(ExpertMlp, AllExpertsOfOneAreThatOne) {
  c10::InferenceMode inference;
  const ExpertMlp mlp = experts(1, 1);
  const at::Tensor input = at::randn({3, kHidden});
  EXPECT_TRUE(at::equal(mlp(input), mlp.experts.front()(input)));
}

TEST(ExpertMlp, ATokenAloneGoesWhereItGoesAmongOthers) {
  c10::InferenceMode inference;
  const ExpertMlp mlp = experts(8, 3);
  const at::Tensor input = at::randn({20, kHidden});
  const at::Tensor together = mlp(input);
  for (std::int64_t row = 0; row < input.size(0); ++row)
    EXPECT_LE(test_support::relative_distance(mlp(input.narrow(0, row, 1))[0], together[row]), 1e-5);
}

}  // namespace
}  // namespace winnow
