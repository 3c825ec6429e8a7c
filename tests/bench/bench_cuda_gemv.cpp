// bench_cuda_gemv: products of one row with matrices of numbers on a GPU, beside libtorch's, in bf16.
//
// bench_cuda_gemv [calls under way at once]. Prints one JSON line for each product of a decode step of Qwen2 0.5B and 7B: of an
// interleaved run, how many times as fast as at::linear it is, and the bytes of the matrix a second as a share of what the device reads at
// most (a sum over a large tensor). Calls take turns over so many matrices that no cache of the device holds them, as in a model. They wait
// in line behind other work until the host has started them all: what is measured is the device's time, not the host's. The head's numbers
// are asked for in fp32, as logits are. Fails if a product differs from libtorch's.
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <vector>

#include "engine/device/cuda_plugin.h"
#include "engine/layers/linear_weight.h"
#include "tests/bench/engine_gpu_time.h"

namespace {

using namespace winnow;
using winnow::testing::kGpu;
using winnow::testing::median;
using winnow::testing::seconds;

constexpr int kRounds = 9;
constexpr std::int64_t kManyBytes = std::int64_t{512} << 20;  // more than a cache holds
constexpr std::int64_t kBusyBytes = std::int64_t{4} << 30;    // read for a millisecond

struct Product {
  const char* name;
  std::int64_t rows;
  std::int64_t columns;
  bool biased;
  bool wide;  // the result in fp32
};

constexpr Product kProducts[] = {{"0.5B qkv", 1152, 896, true, false},      {"0.5B output", 896, 896, false, false},
                                 {"0.5B gate_up", 9728, 896, false, false}, {"0.5B down", 896, 4864, false, false},
                                 {"0.5B head", 151'936, 896, false, true},  {"7B qkv", 4608, 3584, true, false},
                                 {"7B output", 3584, 3584, false, false},   {"7B gate_up", 37'888, 3584, false, false},
                                 {"7B down", 3584, 18'944, false, false},   {"7B head", 152'064, 3584, false, true}};

class BehindOtherWork {
 public:
  explicit BehindOtherWork(int calls) : calls_(calls), numbers_(at::zeros({kBusyBytes / 4}, at::TensorOptions(kGpu).dtype(at::kFloat))) {}

  // Of a call on the device.
  template <class Call>
  double seconds_of(Call call) const {
    const double alone = seconds(1, [&] { work(); });
    const double both = seconds(1, [&] {
      work();
      for (int i = 0; i < calls_; ++i) call();
    });
    return (both - alone) / calls_;
  }

 private:
  void work() const {
    for (int i = 0; i < 1 + calls_ / 25; ++i) numbers_.sum();  // 40 us for each call: no host needs as long to start one
  }

  int calls_;
  at::Tensor numbers_;
};

bool run(const Product& product, const BehindOtherWork& device, double most_bytes_a_second) {
  const at::Tensor input = at::randn({1, product.columns}, at::TensorOptions(kGpu).dtype(at::kBFloat16));
  const at::Tensor bias = product.biased ? at::randn({product.rows}, input.options()) : at::Tensor();
  const std::int64_t bytes = product.rows * product.columns * 2;
  std::vector<at::Tensor> matrices;
  for (std::int64_t held = 0; held < kManyBytes || matrices.size() < 2; held += bytes)
    matrices.push_back(at::randn({product.rows, product.columns}, input.options()));
  const auto ours = [&](const at::Tensor& matrix) {
    return product.wide ? LinearWeight(matrix).times_in_fp32(input) : LinearWeight(matrix).times(input, bias);
  };
  const auto theirs = [&](const at::Tensor& matrix) {
    const at::Tensor output = at::linear(input, matrix, bias);
    return product.wide ? output.to(at::kFloat) : output;
  };
  const at::Tensor expected = theirs(matrices[0]).to(at::kFloat);
  const at::Tensor difference = ours(matrices[0]).to(at::kFloat).sub_(expected).abs_();
  if (!(difference.max().item<float>() <= 2e-2F * expected.abs().max().item<float>())) return false;

  std::size_t next = 0;
  const auto matrix_in_turn = [&]() -> const at::Tensor& { return matrices[next++ % matrices.size()]; };
  std::vector<double> of_ours;
  std::vector<double> of_theirs;
  for (int i = 0; i < kRounds; ++i) {
    const auto measure_ours = [&] { of_ours.push_back(device.seconds_of([&] { ours(matrix_in_turn()); })); };
    const auto measure_theirs = [&] { of_theirs.push_back(device.seconds_of([&] { theirs(matrix_in_turn()); })); };
    measure_ours();
    measure_theirs();
    measure_theirs();
    measure_ours();
  }
  const double time = median(of_ours);
  std::printf(
      R"({"product":"%s","rows":%lld,"columns":%lld,"times_libtorch":%.2f,"share_of_read":%.2f,"median_us":%.2f,"libtorch_us":%.2f})"
      "\n",
      product.name, static_cast<long long>(product.rows), static_cast<long long>(product.columns), median(of_theirs) / time,
      static_cast<double>(bytes) / time / most_bytes_a_second, time * 1e6, median(of_theirs) * 1e6);
  std::fflush(stdout);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::optional<std::int64_t> calls = testing::only_number(argc, argv, 100, 1);
    if (!calls || *calls > 500) {  // a device takes about a thousand in line
      std::fprintf(stderr, "usage: bench_cuda_gemv [calls under way at once, at most 500]\n");
      return 2;
    }
    const CudaDevice& device = open_cuda();
    const c10::InferenceMode inference;
    at::manual_seed(1);
    const double most = testing::bytes_read_a_second(kBusyBytes, kRounds);
    std::printf(R"({"device":"%s","read_gb_per_s":%.0f})"
                "\n",
                device.name.c_str(), most * 1e-9);
    const BehindOtherWork behind(static_cast<int>(*calls));
    for (const Product& product : kProducts) {
      if (run(product, behind, most)) continue;
      std::fprintf(stderr, "%s: the product differs from libtorch's\n", product.name);
      return 1;
    }
    return 0;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "bench_cuda_gemv: %s\n", problem.what());
    return 1;
  }
}
