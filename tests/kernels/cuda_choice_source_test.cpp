// The CUDA kernels that choose a token: their own source on CPU threads (cuda_on_cpu.h), against kernels/reference, to the last id.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "tests/kernels/cuda_on_cpu.h"

#include "kernels/cuda/sample_token.cuh"
#include "kernels/reference/check_sample_token.h"
#include "tests/kernels/choose_case.h"

namespace winnow::kernels {
namespace {

using testing::ChooseCase;
using testing::expected_choice;

// As cuda_sample_token() launches.
std::int64_t choice_of_kernels(ChooseCase& problem, SampleTokenArgs args) {
  std::vector<std::uint64_t> workspace(static_cast<std::size_t>(choice_workspace(args.vocabulary)), 0xABABABABABABABABU);
  std::int64_t choice = -7;
  args.logits = problem.logits.data();
  if (args.repetition_penalty != 1.0) {
    args.seen = problem.seen.data();
    args.fresh = problem.fresh.data();
    args.fresh_count = std::ssize(problem.fresh);
  }
  args.workspace = workspace.data();
  args.choice = &choice;
  EXPECT_EQ(check_arguments(args), LaunchStatus::kOk);
  const cuda::ChooseLaunch launch = cuda::plan_launch(args);
  const cuda::Index chunks = {static_cast<unsigned>(launch.chunks), 1, 1};
  cuda::launch_on_cpu(chunks, cuda::kChoiceThreads, [&] { cuda::find_best(launch); });
  if (args.temperature == 0.0) {
    cuda::launch_on_cpu({1, 1, 1}, cuda::kChoiceThreads, [&] { cuda::take_best(launch); });
  } else {
    cuda::launch_on_cpu(chunks, cuda::kChoiceThreads, [&] { cuda::sort_chunk(launch); });
    cuda::launch_on_cpu({1, 1, 1}, cuda::kChoiceThreads, [&] { cuda::draw_token(launch); });
  }
  return choice;
}

// Some of the settings: a fiber's barrier takes its time. A GPU is asked for all of them (cuda_device_test.cpp).
TEST(CudaChoiceSource, ChoosesAsTheReference) {
  for (const auto& [vocabulary, every] : {std::pair(1, 37), {1024, 29}, {2600, 11}}) {
    const std::vector<SampleTokenArgs> all = testing::every_choice(ChooseCase(vocabulary, 3));
    for (std::size_t i = 0; i < all.size(); i += static_cast<std::size_t>(every)) {
      ChooseCase problem(vocabulary, 3);
      ChooseCase same = problem;
      ASSERT_EQ(choice_of_kernels(problem, all[i]), expected_choice(same, all[i])) << testing::name_of(all[i]);
      EXPECT_EQ(problem.seen, same.seen);
    }
  }
}

// A thread of the last launch then has two chunks. What the launches before it leave is written out here.
TEST(CudaChoiceSource, DrawsFromALongVocabulary) {
  ChooseCase problem(300'000, 8);
  SampleTokenArgs args = problem.args(1.1, 1000, 0.9, 0.0);
  std::vector<std::uint64_t> workspace(static_cast<std::size_t>(choice_workspace(args.vocabulary)));
  std::int64_t choice = -7;
  args.logits = problem.logits.data();
  args.workspace = workspace.data();
  args.choice = &choice;
  const cuda::ChooseLaunch launch = cuda::plan_launch(args);
  for (std::int64_t id = 0; id < args.vocabulary; ++id) launch.keys[id] = choice_key(args, id);
  for (int chunk = 0; chunk < launch.chunks; ++chunk) {
    std::uint64_t* const keys = launch.keys + chunk * kChoiceChunk;
    std::sort(keys, keys + kChoiceChunk, std::greater<>());
    launch.bests[chunk] = keys[0];
  }
  const std::uint64_t best = *std::max_element(launch.bests, launch.bests + launch.chunks);
  for (int chunk = 0; chunk < launch.chunks; ++chunk) {
    std::uint64_t sum = 0;
    for (int i = 0; i < cuda::chunk_size(launch, chunk); ++i) {
      sum += choice_weight(choice_value(launch.keys[chunk * kChoiceChunk + i], best, args.temperature));
      launch.weights[chunk * kChoiceChunk + i] = sum;
    }
  }
  for (const double uniform : {0.02, 0.84}) {
    cuda::ChooseLaunch drawn = launch;
    drawn.args.uniform = args.uniform = uniform;
    cuda::launch_on_cpu({1, 1, 1}, cuda::kChoiceThreads, [&] { cuda::draw_token(drawn); });
    EXPECT_EQ(choice, expected_choice(problem, args)) << testing::name_of(args);
  }
}

TEST(CudaChoiceSource, TiesAcrossChunksAreTheSmallerIds) {
  ChooseCase problem(2600, 3);
  problem.logits.assign(2600, 1.5F);
  problem.logits[1700] = problem.logits[40] = testing::kNever;
  SampleTokenArgs args = problem.args(1.0, 5, 0.5, 0.0);  // all tie with the fifth; half of them stays
  for (const double uniform : {0.0, 0.5, 0.9999}) {
    args.uniform = uniform;
    const std::int64_t choice = choice_of_kernels(problem, args);
    EXPECT_EQ(choice, expected_choice(problem, args));
    EXPECT_LE(choice, 1300);
  }
  args.temperature = 0.0;
  EXPECT_EQ(choice_of_kernels(problem, args), 0);
}

TEST(CudaChoiceSource, SaysWhyNothingCanBeChosen) {
  for (const double temperature : {0.0, 0.7}) {
    ChooseCase problem(2600, 3);
    const SampleTokenArgs args = problem.args(temperature, 5, 0.5, 0.0);
    problem.logits[2500] = std::nanf("");
    EXPECT_EQ(choice_of_kernels(problem, args), kNotANumber);
    problem.logits[2500] = -testing::kNever;
    EXPECT_EQ(choice_of_kernels(problem, args), kNotANumber);
    problem.logits.assign(2600, testing::kNever);
    EXPECT_EQ(choice_of_kernels(problem, args), kNothingLeft);
  }
}

}  // namespace
}  // namespace winnow::kernels
