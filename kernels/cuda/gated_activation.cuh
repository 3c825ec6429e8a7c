// The device code of gated activations; launched by gated_activation.cu, run on CPU threads in tests (tests/kernels/cuda_on_cpu.h).
//
// A thread serves kVector neighbours of a row; grid: rows x the pieces of a row that a thread block serves.
#pragma once

#include <cstdint>

#include "kernels/api/gated_activation.h"
#include "kernels/cuda/activation.cuh"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/overlap.cuh"

namespace winnow::kernels::cuda {

constexpr int kGateThreads = 256;

struct GateLaunch {
  Activation activation;
  const void* gate;
  const void* up;
  std::int64_t stride;
  int columns;
  void* output;
};

// args have been checked.
inline GateLaunch plan_launch(const GatedActivationArgs& args) {
  return {args.activation, args.gate, args.up, args.stride, static_cast<int>(args.columns), args.output};
}

// True if kWidest adjacent elements can be moved at once: every row begins at a multiple of 16 bytes.
template <class T>
bool moves_vectors(const GatedActivationArgs& args) {
  return args.columns % kWidest<T> == 0 && args.stride % kWidest<T> == 0 && is_aligned(args.gate) && is_aligned(args.up) &&
         is_aligned(args.output);
}

inline unsigned gate_pieces(const GatedActivationArgs& args, int vector) {
  const std::int64_t share = std::int64_t{kGateThreads} * vector;
  return static_cast<unsigned>((args.columns + share - 1) / share);
}

template <class T, int kVector>
__global__ void __launch_bounds__(kGateThreads) gate_rows(GateLaunch args) {
  let_next_begin();
  wait_for_earlier();
  const std::int64_t row = blockIdx.x;
  const int column = (static_cast<int>(blockIdx.y) * kGateThreads + static_cast<int>(threadIdx.x)) * kVector;
  if (column >= args.columns) return;
  const std::int64_t from = row * args.stride + column;
  const Pack<T, kVector> gate = load<kVector>(static_cast<const T*>(args.gate) + from);
  const Pack<T, kVector> up = load<kVector>(static_cast<const T*>(args.up) + from);
  Pack<T, kVector> product;
#pragma unroll
  for (int v = 0; v < kVector; ++v) {
    product.values[v] = gated(args.activation, gate.values[v], up.values[v]);
  }
  store(product, static_cast<T*>(args.output) + row * args.columns + column);
}

}  // namespace winnow::kernels::cuda
