// Many rows of input, rounded to eight bits for products with packed matrices (kernels/api/int8_gemm.h), some of them at a time.
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
  // Of columns: input order[i] is the i-th; null: as they are.
  using Order = std::shared_ptr<const std::vector<std::int32_t>>;

  // Rows that are rounded at a time: enough for unpacking the matrix again for the next ones not to count, few enough for their tiles to
  // stay in the last cache.
  static constexpr std::int64_t kMostInputs = 1024;

  // input: [1 to kMostInputs, in] of a type that kernels take, in a multiple of 32; its rows are contiguous. orders: each for tiles of its
  // own.
  Int8Tiles(const at::Tensor& input, std::span<const Order> orders);

  // All tiles of a row's order, one after the other.
  const std::byte* tiles(std::size_t order) const;
  std::int64_t inputs() const { return inputs_; }

 private:
  std::int64_t inputs_;
  std::int64_t bytes_;  // of an order
  at::Tensor memory_;
};

}  // namespace winnow
