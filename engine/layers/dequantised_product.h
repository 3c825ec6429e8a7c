// GEMM of many input rows with a matrix that is stored in another type than the arithmetic's, by dequantising a slice of its rows at a
// time.
//
// Used by the quantised matrices of this folder. Threads: engine thread.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdint>

namespace winnow {

// On a CPU the slice stays in the last-level cache until it is multiplied, and keeps all threads busy.
inline constexpr std::int64_t kDequantisedOnCpu = std::int64_t{1} << 22;

// input: [rows, in]. dequantised(first, count) returns rows [first, first + count) of the matrix, [count, in], in the input's type, valid
// until its next call. together: elements of a slice. Returns [rows, out].
template <class Dequantised>
at::Tensor dequantised_product(const at::Tensor& input, std::int64_t out, const Dequantised& dequantised,
                               std::int64_t together = kDequantisedOnCpu) {
  // Slices are multiples of this many rows, which suits the processor's GEMM.
  constexpr std::int64_t kRows = 64;
  at::Tensor output = at::empty({input.size(0), out}, input.options());
  const std::int64_t tile = std::min(out, std::max(kRows, together / input.size(1) / kRows * kRows));
  for (std::int64_t first = 0; first < out; first += tile) {
    const std::int64_t count = std::min(tile, out - first);
    at::Tensor part = output.narrow(1, first, count);
    at::mm_out(part, input, dequantised(first, count).t());
  }
  return output;
}

}  // namespace winnow
