// bench_cuda_block_gemv: products with matrices in blocks on a GPU, beside libtorch's with the same numbers in bf16.
//
// bench_cuda_block_gemv [rows of the large matrix]. Prints one JSON line for each type, size and number of input rows: of an interleaved
// run, how many times as fast as libtorch's product it is, and the bytes of blocks a second as a share of what the device reads at most (a
// sum over a large tensor). The large matrix does not fit into a device's cache, as a model's weights do not; the small one shows what a
// launch costs. Up to eight rows are multiplied with the blocks as they lie, more are a prompt's. Fails if a product differs from
// libtorch's.
#include <c10/core/InferenceMode.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <span>
#include <vector>

#include "engine/device/cuda_plugin.h"
#include "engine/layers/device_block_matrix.h"
#include "tests/bench/engine_gpu_time.h"
#include "tests/kernels/random_blocks.h"

namespace {

using namespace winnow;
using winnow::testing::kGpu;
using winnow::testing::median;
using winnow::testing::seconds;

constexpr std::int64_t kColumns = 4096;
constexpr int kRounds = 9;

bool run(const char* name, kernels::BlockType type, std::int64_t rows, double most_bytes_a_second) {
  const std::vector<std::uint8_t> blocks = kernels::random_blocks(type, rows * kColumns, 1);
  const std::vector<BlockRows> parts = {{type, std::as_bytes(std::span(blocks)), rows}};
  const DeviceBlockMatrix packed(parts, kColumns, at::kBFloat16, kGpu);
  const at::Tensor numbers = BlockMatrix(parts, kColumns, at::kBFloat16, {}).columns(0, kColumns).to(kGpu);
  for (const std::int64_t inputs : {1, 4, 8, 512}) {
    const at::Tensor input = (at::randn({inputs, kColumns}) / 64.0).to(at::kBFloat16).to(kGpu);
    const at::Tensor expected = at::linear(input, numbers).to(at::kFloat);
    const at::Tensor difference = packed.times(input).to(at::kFloat).sub_(expected).abs_();
    if (!(difference.max().item<float>() <= 2e-2F * expected.abs().max().item<float>())) return false;
    const int calls = inputs > 8 ? 2 : 10;
    std::vector<double> of_packed;
    std::vector<double> of_numbers;
    for (int i = 0; i < kRounds; ++i) {
      const auto ours = [&] { of_packed.push_back(seconds(calls, [&] { packed.times(input); })); };
      const auto theirs = [&] { of_numbers.push_back(seconds(calls, [&] { at::linear(input, numbers); })); };
      ours();
      theirs();
      theirs();
      ours();
    }
    const double time = median(of_packed);
    std::printf(R"({"type":"%s","rows":%lld,"inputs":%lld,"times_bf16":%.2f,"share_of_read":%.2f,"median_us":%.1f})"
                "\n",
                name, static_cast<long long>(rows), static_cast<long long>(inputs), median(of_numbers) / time,
                static_cast<double>(packed.bytes()) / time / most_bytes_a_second, time * 1e6);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::optional<std::int64_t> given = testing::only_number(argc, argv, 65536, 1);
    if (!given) {
      std::fprintf(stderr, "usage: bench_cuda_block_gemv [rows of the large matrix]\n");
      return 2;
    }
    const std::int64_t large = *given;
    const CudaDevice& device = open_cuda();
    const c10::InferenceMode inference;
    at::manual_seed(1);
    const double most = testing::bytes_read_a_second(large * kColumns, kRounds);
    std::printf(R"({"device":"%s","read_gb_per_s":%.0f})"
                "\n",
                device.name.c_str(), most * 1e-9);
    const struct {
      const char* name;
      kernels::BlockType type;
    } types[] = {{"Q8_0", kernels::BlockType::kQ8_0}, {"Q4_0", kernels::BlockType::kQ4_0}, {"Q4_1", kernels::BlockType::kQ4_1},
                 {"Q5_0", kernels::BlockType::kQ5_0}, {"Q4_K", kernels::BlockType::kQ4_K}, {"Q5_K", kernels::BlockType::kQ5_K},
                 {"Q6_K", kernels::BlockType::kQ6_K}, {"U4Z", kernels::BlockType::kU4Z},   {"U8Z", kernels::BlockType::kU8Z}};
    for (const auto& [name, type] : types) {
      for (const std::int64_t rows : {std::int64_t{4096}, large}) {
        if (run(name, type, rows, most)) continue;
        std::fprintf(stderr, "%s: the product differs from libtorch's\n", name);
        return 1;
      }
    }
    return 0;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "bench_cuda_block_gemv: %s\n", problem.what());
    return 1;
  }
}
