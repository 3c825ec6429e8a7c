// A choice of a token for tests: logits in host memory, and what is chosen of them with settings.
#pragma once

#include <cstdint>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/api/sample_token.h"

namespace winnow::kernels::testing {

inline constexpr float kNever = -std::numeric_limits<float>::infinity();

inline std::string name_of(const SampleTokenArgs& args) {
  std::ostringstream name;
  name << args.vocabulary << " ids, temperature " << args.temperature << " top_k " << args.top_k << " top_p " << args.top_p << " min_p "
       << args.min_p << " penalty " << args.repetition_penalty << " draw " << args.uniform;
  return name.str();
}

// What a model says: most ids far behind the best, some alike, some never. Ids that are penalised already, and fresh ones.
struct ChooseCase {
  ChooseCase(std::int64_t vocabulary, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0.0F, 3.0F);
    for (std::int64_t id = 0; id < vocabulary; ++id) {
      const float logit = normal(random);
      logits.push_back(id % 7 == 3 ? kNever : id % 5 == 1 ? static_cast<float>(static_cast<int>(logit)) : logit);
      seen.push_back(random() % 4 == 0);
    }
    for (int i = 0; i < 300; ++i) fresh.push_back(static_cast<std::int64_t>(random() % static_cast<unsigned>(2 * vocabulary)) - 3);
  }

  // The settings, without memory.
  SampleTokenArgs args(double temperature, std::int64_t top_k, double top_p, double min_p) const {
    SampleTokenArgs args{
        .vocabulary = static_cast<std::int64_t>(logits.size()), .temperature = temperature, .top_k = top_k, .top_p = top_p, .min_p = min_p};
    return args;
  }

  std::vector<float> logits;
  std::vector<std::uint8_t> seen;
  std::vector<std::int64_t> fresh;
};

// How a choice can be made: greedy, drawn of all, by each limit alone and by all of them, hot, cold, and at the ends of what a draw is.
inline std::vector<SampleTokenArgs> every_choice(const ChooseCase& problem) {
  std::vector<SampleTokenArgs> all;
  const double almost_one = 1.0 - 0x1.0p-53;
  for (const double temperature : {0.0, 1e-300, 0.7, 30.0, 1e300}) {
    for (const auto& [top_k, top_p, min_p] : {std::tuple(0, 1.0, 0.0),
                                              {1, 1.0, 0.0},
                                              {40, 1.0, 0.0},
                                              {1 << 30, 0.9, 0.0},
                                              {0, 0.0, 0.0},
                                              {0, 1.0, 0.3},
                                              {0, 1.0, 1.0},
                                              {50, 0.95, 0.02}}) {
      if (temperature == 0.0 && top_k != 50) continue;
      for (const double penalty : {1.0, 1.3}) {
        for (const double uniform : {0.0, 0.123, 0.71, almost_one}) {
          if (temperature == 0.0 && uniform > 0.0) continue;
          SampleTokenArgs args = problem.args(temperature, top_k, top_p, min_p);
          args.repetition_penalty = penalty;
          args.uniform = uniform;
          all.push_back(args);
        }
      }
    }
  }
  return all;
}

// The definition's choice; `problem` is left with the fresh ids marked where there is a penalty.
inline std::int64_t expected_choice(ChooseCase& problem, SampleTokenArgs args) {
  std::vector<std::uint64_t> workspace(static_cast<std::size_t>(choice_workspace(args.vocabulary)));
  std::int64_t choice = -7;
  args.logits = problem.logits.data();
  if (args.repetition_penalty != 1.0) {
    args.seen = problem.seen.data();
    args.fresh = problem.fresh.data();
    args.fresh_count = std::ssize(problem.fresh);
  }
  args.workspace = workspace.data();
  args.choice = &choice;
  return sample_token_reference(args) == LaunchStatus::kOk ? choice : -8;
}

}  // namespace winnow::kernels::testing
