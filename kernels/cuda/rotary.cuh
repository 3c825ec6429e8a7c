// The device code of rotary embedding; launched by rotary.cu, run on CPU threads in tests (tests/kernels/cuda_on_cpu.h).
//
// A thread rotates kVector adjacent pairs of a head; grid: rows x the pieces of a row that a thread block serves.
#pragma once

#include <cstdint>

#include "kernels/api/rotary.h"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/overlap.cuh"

namespace winnow::kernels::cuda {

constexpr int kRotaryThreads = 128;

// True if kWidest adjacent elements can be moved at once: every half of every head begins at a multiple of 16 bytes.
template <class T>
bool moves_vectors(const RotaryArgs& args) {
  const auto fits = [](const GroupStrides& strides) { return strides.row % kWidest<T> == 0 && strides.group % kWidest<T> == 0; };
  return args.half % kWidest<T> == 0 && fits(args.input_strides) && fits(args.output_strides) && is_aligned(args.input) &&
         is_aligned(args.output) && is_aligned(args.cosine) && is_aligned(args.sine);
}

inline unsigned rotary_pieces(const RotaryArgs& args, int vector) {
  const std::int64_t share = std::int64_t{kRotaryThreads} * vector;
  return static_cast<unsigned>((args.heads * args.half + share - 1) / share);
}

// kVector adjacent pairs from their first elements on; the second elements are `half` behind them.
template <int kVector, class T>
__device__ inline void turn_pairs(const T* from, const T* cosines, const T* sines, int half, T* to) {
  const Pack<T, kVector> a = load<kVector>(from);
  const Pack<T, kVector> b = load<kVector>(from + half);
  const Pack<T, kVector> cosine = load<kVector>(cosines);
  const Pack<T, kVector> sine = load<kVector>(sines);
  Pack<T, kVector> first;
  Pack<T, kVector> second;
#pragma unroll
  for (int v = 0; v < kVector; ++v) {
    narrow(upcast(a.values[v]) * upcast(cosine.values[v]), first.values[v]);
    narrow(upcast(first.values[v]) - upcast(b.values[v]) * upcast(sine.values[v]), first.values[v]);
    narrow(upcast(b.values[v]) * upcast(cosine.values[v]), second.values[v]);
    narrow(upcast(second.values[v]) + upcast(a.values[v]) * upcast(sine.values[v]), second.values[v]);
  }
  store(first, to);
  store(second, to + half);
}

template <class T, int kVector>
__global__ void __launch_bounds__(kRotaryThreads) turn_heads(RotaryArgs args) {
  let_next_begin();
  wait_for_earlier();
  const std::int64_t row = blockIdx.x;
  const int pair = (static_cast<int>(blockIdx.y) * kRotaryThreads + static_cast<int>(threadIdx.x)) * kVector;
  const int half = static_cast<int>(args.half);
  const int head = pair / half;
  if (head >= static_cast<int>(args.heads)) return;
  const int i = pair % half;
  const T* const from = static_cast<const T*>(args.input) + row * args.input_strides.row + head * args.input_strides.group + i;
  T* const to = static_cast<T*>(args.output) + row * args.output_strides.row + head * args.output_strides.group + i;
  turn_pairs<kVector>(from, static_cast<const T*>(args.cosine) + row * half + i, static_cast<const T*>(args.sine) + row * half + i, half,
                      to);
}

}  // namespace winnow::kernels::cuda
