// Sampled tokens against their reference, to the last id.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "tests/kernels/choose_case.h"
#include "tests/kernels/cuda/runner.h"
#include "tests/kernels/device_memory.h"

namespace winnow::kernels::testing {
namespace {

class CudaSampleToken : public testing::OnRunner {};

// Leaves the problem with the fresh ids marked where there is a penalty, as expected_choice() does.
std::int64_t sampled(ChooseCase& problem, SampleTokenArgs args) {
  const DeviceMemory logits(problem.logits);
  const DeviceMemory fresh(problem.fresh);
  const DeviceMemory seen(problem.seen);
  const DeviceMemory workspace(
      std::vector<std::uint64_t>(static_cast<std::size_t>(choice_workspace(args.vocabulary)), 0xABABABABABABABABU));
  const DeviceMemory choice(std::vector<std::int64_t>{-7});
  args.logits = logits.as<float>();
  if (args.repetition_penalty != 1.0) {
    args.seen = seen.as<std::uint8_t>();
    args.fresh = fresh.as<std::int64_t>();
    args.fresh_count = std::ssize(problem.fresh);
  }
  args.workspace = workspace.as<std::uint64_t>();
  args.choice = choice.as<std::int64_t>();
  EXPECT_EQ(cuda_sample_token(args, nullptr), LaunchStatus::kOk);
  problem.seen = seen.copy<std::uint8_t>();
  return choice.copy<std::int64_t>().front();
}

// On fibers some of the settings: a barrier takes its time. A card is asked for all of them.
TEST_F(CudaSampleToken, ChoosesAsTheReference) {
  using Size = std::pair<std::int64_t, std::size_t>;
  for (const auto& [vocabulary, every] : grid_of<Size>({{1, 37}, {1024, 29}, {2600, 11}}, {{151'936, 1}, {300'000, 1}})) {
    const ChooseCase given(vocabulary, 3);
    const std::vector<SampleTokenArgs> all = testing::every_choice(given);
    for (std::size_t i = 0; i < all.size(); i += testing::runs_on_card() ? 1 : every) {
      ChooseCase problem = given;
      ChooseCase same = given;
      ASSERT_EQ(sampled(problem, all[i]), expected_choice(same, all[i])) << testing::name_of(all[i]);
      EXPECT_EQ(problem.seen, same.seen);
    }
  }
}

TEST_F(CudaSampleToken, TiesAcrossChunksAreTheSmallerIds) {
  ChooseCase problem(2600, 3);
  problem.logits.assign(2600, 1.5F);
  problem.logits[1700] = problem.logits[40] = testing::kNever;
  SampleTokenArgs args = problem.args(1.0, 5, 0.5, 0.0);  // all tie with the fifth; half of them stays
  for (const double uniform : {0.0, 0.5, 0.9999}) {
    args.uniform = uniform;
    const std::int64_t choice = sampled(problem, args);
    EXPECT_EQ(choice, expected_choice(problem, args));
    EXPECT_LE(choice, 1300);
  }
  args.temperature = 0.0;
  EXPECT_EQ(sampled(problem, args), 0);
}

TEST_F(CudaSampleToken, SaysWhyNothingCanBeChosen) {
  for (const double temperature : {0.0, 0.7}) {
    ChooseCase problem(2600, 3);
    const SampleTokenArgs args = problem.args(temperature, 5, 0.5, 0.0);
    problem.logits[2500] = std::nanf("");
    EXPECT_EQ(sampled(problem, args), kNotANumber);
    problem.logits[2500] = -testing::kNever;
    EXPECT_EQ(sampled(problem, args), kNotANumber);
    problem.logits.assign(2600, testing::kNever);
    EXPECT_EQ(sampled(problem, args), kNothingLeft);
  }
}

}  // namespace
}  // namespace winnow::kernels::testing
