#include "app/library/models/memory_need.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <new>
#include <numeric>
#include <thread>
#include <vector>

namespace winnow::app {
namespace {

constexpr qint64 kProgramBytes = qint64{350} << 20;
constexpr qint64 kOthersBytes = qint64{1} << 30;  // that the desktop and other programs keep
constexpr qint64 kTenth = 10;

bool fits(qint64 need, qint64 bytes) { return need + std::min(kOthersBytes, bytes / kTenth) <= bytes; }

constexpr std::size_t kWords = std::size_t{128} << 17;  // of eight bytes: more than most caches hold
// The piece that is timed at once: less than another program takes a core for, so that the middle one of a core's times was not
// interrupted.
constexpr std::size_t kPiece = std::size_t{1} << 17;

std::uint64_t sumOf(const std::uint64_t* from, const std::uint64_t* to) {
  constexpr std::ptrdiff_t kAtOnce = 8;  // independent sums, so that reading is what is waited for
  std::array<std::uint64_t, kAtOnce> sums{};
  for (; to - from >= kAtOnce; from += kAtOnce) {
    for (std::size_t i = 0; i < kAtOnce; ++i) sums[i] += from[i];
  }
  std::uint64_t sum = 0;
  for (const std::uint64_t each : sums) sum += each;
  return sum;
}

// Each core its own part; returns when the last is done.
template <typename Work>
void onAllCores(std::size_t cores, const Work& work) {
  std::vector<std::thread> threads;
  for (std::size_t core = 1; core < cores; ++core) threads.emplace_back([&work, core] { work(core); });
  work(0);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

qint64 MachineMemory::largest() const { return bytes > 0 ? std::max(bytes, gpuBytes) : 0; }

MemoryNeed memoryNeed(qint64 weightBytes, qint64 kvBytesPerToken, qint64 tokens) {
  return {weightBytes + weightBytes / kTenth, kvBytesPerToken * tokens, kProgramBytes, 0};
}

MemoryNeed memoryNeed(const ModelSummary& model) {
  MemoryNeed need = memoryNeed(static_cast<qint64>(model.weight_bytes), model.cache.kv_bytes_per_token, model.cache.usual_tokens());
  need.states = model.cache.usual_bytes() - need.cache;
  return need;
}

ModelFit modelFit(const MemoryNeed& need, const MachineMemory& memory) {
  if (memory.gpuBytes > 0 && fits(need.totalOnGpu(), memory.gpuBytes)) return ModelFit::kGpu;
  if (memory.bytes > 0 && !fits(need.total(), memory.bytes)) return ModelFit::kNowhere;
  return memory.gpuBytes > 0 ? ModelFit::kMemoryOnly : ModelFit::kMemory;
}

double memoryBytesPerSecond() {
  const std::unique_ptr<std::uint64_t[]> words(new (std::nothrow) std::uint64_t[kWords]);
  if (!words) return 0.0;
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t part = kWords / cores / kPiece * kPiece;
  if (part == 0) return 0.0;
  std::vector<double> rates(cores);
  std::atomic<std::uint64_t> sum{0};  // somebody has to want it
  onAllCores(cores, [&](std::size_t core) {
    std::uint64_t* const own = words.get() + core * part;
    std::fill_n(own, part, core);  // pages that nobody has written to are all the same one
    std::vector<double> seconds;
    for (std::size_t at = 0; at < part; at += kPiece) {
      const auto began = std::chrono::steady_clock::now();
      sum += sumOf(own + at, own + at + kPiece);
      seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    }
    const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
    std::nth_element(seconds.begin(), middle, seconds.end());
    rates[core] = static_cast<double>(kPiece * sizeof(std::uint64_t)) / std::max(*middle, 1e-9);
  });
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

}  // namespace winnow::app
