// Input rows quantised to int8 tiles for the int8 GEMM (kernels/api/int8_gemm.h), a limited number of rows at a time.
//
// Used by engine/layers/block_matrix.h for prompts. On the CPU. Threads: engine thread (runs on the work team inside).
#pragma once

#include <ATen/ATen.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace winnow {

class Int8Tiles {
 public:
  // Column order: column i is input order[i]; null: unchanged.
  using Order = std::shared_ptr<const std::vector<std::int32_t>>;

  // Rows quantised at a time: many enough to make unpacking the matrix again cheap, few enough for their tiles to stay in the last-level
  // cache.
  static constexpr std::int64_t kMostInputs = 1024;

  // input: [1 to kMostInputs, in] of a kernel element type, contiguous rows, in a multiple of 32. Each of `orders` gets its own tiles.
  Int8Tiles(const at::Tensor& input, std::span<const Order> orders);

  // All tiles of an order, contiguous.
  const std::byte* tiles(std::size_t order) const;
  std::int64_t inputs() const { return inputs_; }

 private:
  std::int64_t inputs_;
  std::int64_t bytes_;  // of an order
  at::Tensor memory_;
};

}  // namespace winnow
