// The gated delta rule: the vectorised form against the definition, the definition against numbers worked out by hand.
#include "kernels/api/gated_delta.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "tests/kernels/changed_arguments.h"
#include "tests/kernels/every_target.h"

namespace winnow::kernels::testing {
namespace {

using DeltaKernel = LaunchStatus (*)(const GatedDeltaArgs&);

// Tokens at random: keys and queries about as long as models have them.
struct DeltaProblem {
  explicit DeltaProblem(const GatedDeltaArgs& sizes) : args(sizes) {
    std::mt19937 random(static_cast<unsigned>(sizes.key_dim * 31 + sizes.value_dim));
    std::normal_distribution<float> normal;
    std::uniform_real_distribution<float> share;
    const auto draw = [&](std::int64_t count, auto& of) {
      std::vector<float> numbers(static_cast<std::size_t>(count));
      for (float& number : numbers) number = of(random);
      return numbers;
    };
    const std::int64_t keys = sizes.tokens * sizes.key_heads * sizes.key_dim;
    query = draw(keys, normal);
    key = draw(keys, normal);
    for (float& number : key) number /= std::sqrt(static_cast<float>(sizes.key_dim));
    value = draw(sizes.tokens * sizes.value_heads * sizes.value_dim, normal);
    decay = draw(sizes.tokens * sizes.value_heads, share);
    beta = draw(sizes.tokens * sizes.value_heads, share);
    state = draw(sizes.value_heads * sizes.key_dim * sizes.value_dim, normal);
  }

  // All heads through `kernel`, in parts of so many columns and tokens. Returns what was read, and behind it the state.
  std::vector<float> run(DeltaKernel kernel, std::int64_t columns, std::int64_t tokens_at_once) const {
    std::vector<float> output(value.size());
    std::vector<float> left = state;
    for (std::int64_t first = 0; first < args.tokens; first += tokens_at_once) {
      GatedDeltaArgs part = args;
      part.tokens = std::min(tokens_at_once, args.tokens - first);
      part.query = query.data() + first * args.key_heads * args.key_dim;
      part.key = key.data() + first * args.key_heads * args.key_dim;
      part.value = value.data() + first * args.value_heads * args.value_dim;
      part.decay = decay.data() + first * args.value_heads;
      part.beta = beta.data() + first * args.value_heads;
      part.state = left.data();
      part.output = output.data() + first * args.value_heads * args.value_dim;
      for (part.head = 0; part.head < args.value_heads; ++part.head) {
        part.key_head = part.head % args.key_heads;
        for (part.first_column = 0; part.first_column < args.value_dim; part.first_column += columns) {
          part.columns = std::min(columns, args.value_dim - part.first_column);
          EXPECT_EQ(kernel(part), LaunchStatus::kOk);
        }
      }
    }
    output.insert(output.end(), left.begin(), left.end());
    return output;
  }

  GatedDeltaArgs args;
  std::vector<float> query, key, value, decay, beta, state;
};

GatedDeltaArgs sizes_of(std::int64_t tokens, std::int64_t key_heads, std::int64_t value_heads, std::int64_t key_dim,
                        std::int64_t value_dim) {
  GatedDeltaArgs args{.tokens = tokens, .key_heads = key_heads, .value_heads = value_heads, .key_dim = key_dim, .value_dim = value_dim};
  return args;
}

// S = [2, 0]^T, halved: [1, 0]. The key (0, 1) knows 0 and is told 3 at rate 0.5: S = [1, 1.5]. The query (2, 1) reads 3.5.
TEST(GatedDelta, ByHand) {
  for (const DeltaKernel kernel : {&gated_delta_reference, &gated_delta_cpu}) {
    const float query[] = {2.0F, 1.0F}, key[] = {0.0F, 1.0F}, value[] = {3.0F}, decay[] = {0.5F}, beta[] = {0.5F};
    float state[] = {2.0F, 0.0F}, output[] = {0.0F};
    GatedDeltaArgs args = sizes_of(1, 1, 1, 2, 1);
    args.query = query;
    args.key = key;
    args.value = value;
    args.decay = decay;
    args.beta = beta;
    args.state = state;
    args.output = output;
    args.columns = 1;
    ASSERT_EQ(kernel(args), LaunchStatus::kOk);
    EXPECT_EQ(output[0], 3.5F);
    EXPECT_EQ(state[0], 1.0F);
    EXPECT_EQ(state[1], 1.5F);
  }
}

TEST(GatedDelta, EqualsTheDefinition) {
  for (const GatedDeltaArgs& sizes : {sizes_of(1, 1, 1, 1, 1), sizes_of(5, 2, 4, 8, 12), sizes_of(9, 3, 3, 16, 33),
                                      sizes_of(40, 1, 2, 128, 128), sizes_of(0, 1, 1, 4, 4)}) {
    SCOPED_TRACE(std::to_string(sizes.tokens) + " tokens, " + std::to_string(sizes.key_dim) + " x " + std::to_string(sizes.value_dim));
    const DeltaProblem problem(sizes);
    const std::vector<float> expected = problem.run(&gated_delta_reference, sizes.value_dim, std::max<std::int64_t>(1, sizes.tokens));
    const float largest = *std::ranges::max_element(expected, {}, [](float x) { return std::abs(x); });
    testing::with_every_target([&] {
      const std::vector<float> found = problem.run(&gated_delta_cpu, sizes.value_dim, std::max<std::int64_t>(1, sizes.tokens));
      for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-5F * std::abs(largest)) << i;
    });
  }
}

TEST(GatedDelta, LeavesTheSameBitsInPieces) {
  const DeltaProblem problem(sizes_of(23, 2, 4, 24, 40));
  const std::vector<float> whole = problem.run(&gated_delta_cpu, 40, 23);
  EXPECT_EQ(problem.run(&gated_delta_cpu, 16, 1), whole);
  EXPECT_EQ(problem.run(&gated_delta_cpu, 7, 10), whole);
}

TEST(GatedDelta, RefusesWhatDoesNotFit) {
  float numbers[64] = {};
  GatedDeltaArgs good = sizes_of(1, 1, 2, 2, 2);
  good.query = good.key = good.value = good.decay = good.beta = numbers;
  good.state = good.output = numbers + 32;
  good.columns = 2;
  const ChangedArguments expect(good, {&gated_delta_reference, &gated_delta_cpu});
  expect(kOk, [](auto& a) { a.tokens = 0; });
  expect(kBad, [](auto& a) { a.state = nullptr; });
  expect(kBad, [](auto& a) { a.tokens = -1; });
  expect(kBad, [](auto& a) { a.key_head = 1; });
  expect(kBad, [](auto& a) { a.key_head = -1; });
  expect(kBad, [](auto& a) { a.head = 2; });
  expect(kBad, [](auto& a) { a.first_column = 1; });
  expect(kTooLarge, [](auto& a) { a.key_dim = kMaxDeltaKey + 1; });
}

}  // namespace
}  // namespace winnow::kernels::testing
