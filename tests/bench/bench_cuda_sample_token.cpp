// bench_cuda_sample_token: time that a GPU takes to choose a token, greedy and drawn.
//
// Prints one JSON line per case: median time of a call (events of the device, launches included), and the speed relative to
// cudaMemcpyDeviceToHost of the logits, which choosing on the host would need. Fails if the id is not the reference's.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

#include "tests/bench/device_time.h"
#include "tests/kernels/choose_case.h"
#include "tests/kernels/device_memory.h"

namespace {

using namespace winnow::kernels;
using winnow::kernels::testing::check;
using winnow::kernels::testing::ChooseCase;
using winnow::kernels::testing::DeviceMemory;
using winnow::kernels::testing::expected_choice;
using winnow::kernels::testing::median_us;

bool run(const char* name, ChooseCase& problem, SampleTokenArgs args) {
  args.uniform = 0.4;
  const std::int64_t expected = expected_choice(problem, args);
  const DeviceMemory logits(problem.logits);
  const DeviceMemory workspace(std::vector<std::uint64_t>(static_cast<std::size_t>(choice_workspace(args.vocabulary))));
  const DeviceMemory choice(std::vector<std::int64_t>{-7});
  args.logits = logits.as<float>();
  args.workspace = workspace.as<std::uint64_t>();
  args.choice = choice.as<std::int64_t>();
  const double us = median_us(50, [&] { cuda_sample_token(args, nullptr); });
  if (const std::int64_t id = choice.copy<std::int64_t>().front(); id != expected) {
    std::fprintf(stderr, "%s: %lld where the reference chooses %lld\n", name, static_cast<long long>(id), static_cast<long long>(expected));
    return false;
  }
  const double copy_us = median_us(50, [&] { static_cast<void>(logits.copy<float>()); });
  std::printf("{\"case\":\"cuda_sample_token/%s/v%lld\",\"median_us\":%.1f,\"times_copy\":%.2f}\n", name,
              static_cast<long long>(args.vocabulary), us, copy_us / us);
  return true;
}

}  // namespace

int main() {
  try {
    check(cudaSetDevice(0));
    for (const std::int64_t vocabulary : {std::int64_t{49'152}, std::int64_t{151'936}, std::int64_t{262'144}}) {
      ChooseCase problem(vocabulary, 1);
      if (!run("greedy", problem, problem.args(0.0, 0, 1.0, 0.0))) return 1;
      if (!run("temperature", problem, problem.args(0.8, 0, 1.0, 0.0))) return 1;
      if (!run("top_k", problem, problem.args(0.8, 40, 1.0, 0.0))) return 1;
      if (!run("top_p", problem, problem.args(0.8, 0, 0.95, 0.0))) return 1;
      if (!run("all", problem, problem.args(0.8, 40, 0.95, 0.05))) return 1;
    }
    return 0;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "bench_cuda_sample_token: %s\n", problem.what());
    return 1;
  }
}
