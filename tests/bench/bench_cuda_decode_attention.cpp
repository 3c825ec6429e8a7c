// bench_cuda_decode_attention: bandwidth of decode attention on a GPU, beside a copy of the same bytes on the device.
//
// Prints one JSON line per case: median time of a call (events of the device, launch included), GB/s of K and V read, and the speed
// relative to cudaMemcpyDeviceToDevice of as many bytes (which reads and writes them). Fails if results differ from the reference.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

#include "tests/bench/device_time.h"
#include "tests/kernels/device_memory.h"

namespace {

using namespace winnow::kernels;
using winnow::kernels::testing::check;
using winnow::kernels::testing::DeviceDecode;
using winnow::kernels::testing::DeviceMemory;
using winnow::kernels::testing::element_bytes;
using winnow::kernels::testing::median_us;
using winnow::kernels::testing::RaggedDecodeCase;

bool run(ElementType type, std::int64_t head_dim, std::int64_t group, std::int32_t slots, std::int64_t kv_heads, int multiprocessors) {
  const RaggedDecodeCase problem(type, head_dim, group, std::vector<std::int32_t>(static_cast<std::size_t>(kv_heads), slots), 1);
  const std::int64_t parts = cuda_decode_parts(slots, kv_heads, group, multiprocessors);
  DeviceDecode device(problem, parts, false);
  const double us = median_us(50, [&] { cuda_decode_attention(device.args(), nullptr); });
  const RaggedDecodeCase::Result result = device.result();
  for (std::int64_t i = 0; i < group * head_dim; ++i) {
    const double wanted = problem.expected[0].output[static_cast<std::size_t>(i)];
    if (!(std::fabs(element(result.output.data(), type, i) - wanted) < 1e-2)) {
      std::fprintf(stderr, "wrong result at %lld\n", static_cast<long long>(i));
      return false;
    }
  }
  const std::size_t bytes = 2 * static_cast<std::size_t>(kv_heads * slots * head_dim) * element_bytes(type);
  const DeviceMemory from{std::vector<std::byte>(bytes)};
  const DeviceMemory to{std::vector<std::byte>(bytes)};
  const double copy_us = median_us(50, [&] { check(cudaMemcpyAsync(to.bytes(), from.bytes(), bytes, cudaMemcpyDeviceToDevice)); });
  std::printf(
      "{\"case\":\"cuda_decode_attention/%s/d%lld/g%lld/kv%lld/n%d\",\"parts\":%lld,\"median_us\":%.1f,\"gb_per_s\":%.0f,"
      "\"times_copy\":%.2f}\n",
      type == ElementType::kFp32   ? "fp32"
      : type == ElementType::kBf16 ? "bf16"
                                   : "fp16",
      static_cast<long long>(head_dim), static_cast<long long>(group), static_cast<long long>(kv_heads), slots,
      static_cast<long long>(parts), us, static_cast<double>(bytes) / us * 1e-3, copy_us / us);
  return true;
}

}  // namespace

int main() {
  try {
    cudaDeviceProp device = {};
    check(cudaGetDeviceProperties(&device, 0));
    for (const std::int32_t slots : {512, 2048, 8192, 32768, 131072}) {
      if (!run(ElementType::kBf16, 64, 7, slots, 2, device.multiProcessorCount)) return 1;   // Qwen2-0.5B
      if (!run(ElementType::kBf16, 128, 7, slots, 4, device.multiProcessorCount)) return 1;  // Qwen2-7B
      if (!run(ElementType::kFp32, 64, 7, slots, 2, device.multiProcessorCount)) return 1;
    }
    return 0;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "bench_cuda_decode_attention: %s\n", problem.what());
    return 1;
  }
}
