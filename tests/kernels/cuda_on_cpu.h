// Runs the project's CUDA kernels on a CPU: their own source, every CUDA thread a fiber, so that arithmetic, indexing and barriers are
// tested where no GPU is. Include before a .cuh or .cu file. Knows exactly what those files use: threadIdx, blockIdx, __shared__,
// __syncthreads, full-warp __shfl_xor_sync, __shfl_sync and __syncwarp, the tensor cores (kernels/cuda/tensor_core.cuh), copies that are
// not waited for (kernels/cuda/tensor_core.cuh), atomic maxima and sums, fp16 conversions, single operations that round. A barrier that
// part of a warp or block never reaches throws. Compile with -fsanitize=alignment, as CMakeLists.txt does: a load from where its type is
// not aligned ends the program. One thread block at a time; fibers are resumed in turn, so a missing barrier shows as a wrong value, not
// always but repeatably.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <stdexcept>
#include <vector>

#include "kernels/reference/half.h"
#include "tests/kernels/narrow.h"

#define __global__ inline
#define __host__
#define __device__
#define __shared__ static
#define __launch_bounds__(...)

namespace winnow::kernels::cuda {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};
inline Index threadIdx;
inline Index blockIdx;

// Thread blocks of a launch, as CUDA's dim3.
struct Grid {
  Grid(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  unsigned x, y, z;
};

using std::max;
using std::min;

// The threads of one block.
class BlockOnCpu {
 public:
  void run(unsigned threads, const std::function<void()>& kernel) {
    while (stacks_.size() < threads) stacks_.emplace_back(kStackBytes);
    fibers_.clear();
    fibers_.resize(threads);
    kernel_ = &kernel;
    current() = this;
    for (std::size_t i = 0; i < threads; ++i) {
      Fiber& fiber = fibers_[i];
      getcontext(&fiber.context);
      fiber.context.uc_stack.ss_sp = stacks_[i].data();
      fiber.context.uc_stack.ss_size = kStackBytes;
      fiber.context.uc_link = &scheduler_;
      makecontext(&fiber.context, &BlockOnCpu::enter, 0);
    }
    while (step()) {
    }
  }

  static BlockOnCpu*& current() {
    static BlockOnCpu* block = nullptr;
    return block;
  }

  void wait_for_block() { yield(State::kAtBlockBarrier); }

  // What a thread shows the others of its warp.
  using Words = std::array<std::uint32_t, 6>;
  // What all 32 threads of this one's warp show, until the next time.
  struct Shown {
    const BlockOnCpu& block;
    std::size_t slot;
    const Words& of(std::size_t lane) const { return block.fibers_[block.running_ / 32 * 32 + lane].offered[slot]; }
  };
  Shown show(const Words& words) {
    Fiber& own = fibers_[running_];
    own.offered[own.exchanges % 2] = words;
    const std::size_t slot = own.exchanges++ % 2;  // two slots: a partner may already offer the next value
    yield(State::kAtWarpExchange);
    return {*this, slot};
  }
  std::size_t lane() const { return running_ % 32; }

  // Null: zeros. Copied by finish_copies(), when at most `later` groups of the running thread are younger.
  void copy_later(void* to, const void* from, std::size_t bytes) {
    if (reinterpret_cast<std::uintptr_t>(to) % bytes != 0 || reinterpret_cast<std::uintptr_t>(from) % bytes != 0) {
      throw std::logic_error("a copy from or to where it is not aligned");
    }
    fibers_[running_].copies.back().push_back({to, from, bytes});
  }
  void close_copies() { fibers_[running_].copies.emplace_back(); }
  void finish_copies(std::size_t later) {
    std::deque<std::vector<Copy>>& groups = fibers_[running_].copies;
    for (; groups.size() > later + 1; groups.pop_front()) {
      for (const Copy& copy : groups.front()) {
        copy.from == nullptr ? std::memset(copy.to, 0, copy.bytes) : std::memcpy(copy.to, copy.from, copy.bytes);
      }
    }
  }

 private:
  struct Copy {
    void* to;
    const void* from;
    std::size_t bytes;
  };
  enum class State { kReady, kAtBlockBarrier, kAtWarpExchange, kDone };
  struct Fiber {
    ucontext_t context = {};
    State state = State::kReady;
    std::array<Words, 2> offered = {};
    std::size_t exchanges = 0;
    std::deque<std::vector<Copy>> copies{1};  // groups; the last one is open
  };
  static constexpr std::size_t kStackBytes = 64 * 1024;

  static void enter() {
    BlockOnCpu& block = *current();
    (*block.kernel_)();
    block.fibers_[block.running_].state = State::kDone;
  }

  void yield(State state) {
    Fiber& own = fibers_[running_];
    own.state = state;
    swapcontext(&own.context, &scheduler_);
  }

  bool all(std::size_t begin, std::size_t end, State state) const {
    return std::all_of(fibers_.begin() + static_cast<std::ptrdiff_t>(begin), fibers_.begin() + static_cast<std::ptrdiff_t>(end),
                       [&](const Fiber& fiber) { return fiber.state == state; });
  }

  // Lets every fiber run to its next barrier, then opens the barriers that all have reached. False when all are done.
  bool step() {
    for (running_ = 0; running_ < fibers_.size(); ++running_) {
      if (fibers_[running_].state != State::kReady) continue;
      threadIdx = {static_cast<unsigned>(running_), 0, 0};
      swapcontext(&scheduler_, &fibers_[running_].context);
    }
    if (all(0, fibers_.size(), State::kDone)) return false;
    bool opened = false;
    const auto open = [&](std::size_t begin, std::size_t end, State state) {
      if (!all(begin, end, state)) return;
      for (std::size_t i = begin; i < end; ++i) fibers_[i].state = State::kReady;
      opened = true;
    };
    open(0, fibers_.size(), State::kAtBlockBarrier);
    for (std::size_t warp = 0; warp < fibers_.size(); warp += 32) open(warp, warp + 32, State::kAtWarpExchange);
    if (!opened) throw std::logic_error("a barrier that some threads never reach");
    return true;
  }

  ucontext_t scheduler_ = {};
  std::vector<std::vector<char>> stacks_;  // of the most threads that a block had
  std::vector<Fiber> fibers_;
  std::size_t running_ = 0;
  const std::function<void()>* kernel_ = nullptr;
};

inline void __syncthreads() { BlockOnCpu::current()->wait_for_block(); }
inline void __syncwarp() { BlockOnCpu::current()->show({}); }
template <class Number>
Number __shfl_sync(unsigned /*mask*/, Number value, int lane) {
  const BlockOnCpu::Shown shown = BlockOnCpu::current()->show({std::bit_cast<std::uint32_t>(value)});
  return std::bit_cast<Number>(shown.of(static_cast<std::size_t>(lane))[0]);
}
template <class Number>
Number __shfl_xor_sync(unsigned mask, Number value, int lane_mask) {
  return __shfl_sync(mask, value, static_cast<int>(BlockOnCpu::current()->lane()) ^ lane_mask);
}
inline void atomicMax(int* to, int value) { *to = std::max(*to, value); }
inline void atomicMin(unsigned* to, unsigned value) { *to = std::min(*to, value); }
inline void atomicAdd(unsigned long long* to, unsigned long long value) { *to += value; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline std::uint16_t __ushort_as_half(std::uint16_t bits) { return bits; }
inline std::uint16_t __half_as_ushort(std::uint16_t bits) { return bits; }
inline std::uint16_t __float2bfloat16_rn(float value) { return float_to_bf16(value); }
inline std::uint16_t __bfloat16_as_ushort(std::uint16_t bits) { return bits; }
inline float __half2float(std::uint16_t bits) { return fp16_to_float(bits); }
inline std::uint16_t __float2half_rn(float value) { return std::isnan(value) ? 0x7E00 : testing::to_fp16(value); }

// Bytes of y:x, by the digits of the selector from its low end on.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const std::uint64_t bytes = (static_cast<std::uint64_t>(y) << 32) | x;
  unsigned chosen = 0;
  for (unsigned i = 0; i < 4; ++i) chosen |= static_cast<unsigned>((bytes >> (8 * ((selector >> (4 * i)) & 7U))) & 0xFFU) << (8 * i);
  return chosen;
}

// kernel<<<grid, threads>>>(): thread blocks one after the other.
inline void launch_on_cpu(Grid grid, unsigned threads, const std::function<void()>& kernel) {
  static BlockOnCpu block;  // keeps its fibers' stacks
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; ++x) {
        blockIdx = {x, y, z};
        block.run(threads, kernel);
      }
    }
  }
}

}  // namespace winnow::kernels::cuda
