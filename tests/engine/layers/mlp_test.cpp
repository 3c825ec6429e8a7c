#include "engine/layers/mlp.h"

#include <gtest/gtest.h>

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
  mlp.shared = {{at::randn({1, kHidden}), {}}, {{at::randn({6, kHidden}), {}}, {at::randn({kHidden, 3}), {}}, Activation::kSilu}};
  const at::Tensor gate = at::linear(input, mlp.shared->gate.weight.columns(0, kHidden)).sigmoid();  // [9, 1]
  EXPECT_LE(test_support::relative_distance(mlp(input), chosen + gate * mlp.shared->mlp(input)), 1e-6);
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
