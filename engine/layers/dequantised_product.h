// Many rows of input times a matrix whose numbers are not those of the arithmetic: some of its rows are dequantised at a time.
//
// Used by the packed matrices of this folder. Threads: engine thread.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdint>

namespace winnow {

// Up to so many rows of input go through the matrix as it is, one by one: dequantising it first costs about as much as this many.
inline constexpr std::int64_t kFewRows = 8;

// On a CPU they stay in the last cache until they are multiplied, and are enough for all threads to multiply.
inline constexpr std::int64_t kDequantisedOnCpu = std::int64_t{1} << 22;

// input: [rows, in]. dequantised(first, count) is rows [first, first + count) of the matrix, [count, in], as numbers of the input's type;
// it holds until the next is asked for. together: numbers that are dequantised at a time. Returns [rows, out].
template <class Dequantised>
at::Tensor dequantised_product(const at::Tensor& input, std::int64_t out, const Dequantised& dequantised,
                               std::int64_t together = kDequantisedOnCpu) {
  // Rows are dequantised by multiples of this, which the processor's own product likes.
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
