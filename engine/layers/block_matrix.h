// A quantised matrix on the CPU (kernels/api/block_types.h), read in place in the form its file has.
//
// Made by models/weights/weight_reader.h; held by LinearWeight. Its rows may come from several stored matrices of different types (q, k and
// v as one matrix). A few rows of input use the int8 GEMV (kernels/api/int8_gemv.h), many the int8 GEMM (int8_gemm.h); types without one
// use the fp32 GEMV. Many rows use a dequantised GEMM instead where that is faster: on processors without fast int8 products, and in bf16
// with AMX tiles.
// Threads: engine thread (runs on libtorch's pool inside). Errors: kInternal for parts that do not fit.
#pragma once

#include <ATen/ATen.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/layers/linear_weight.h"
#include "kernels/api/block_types.h"

namespace winnow {

// One stored matrix, [rows, in].
struct BlockRows {
  kernels::BlockType type = kernels::BlockType::kF32;
  std::span<const std::byte> bytes;
  std::int64_t rows = 0;
  std::vector<std::int32_t> row_of{};  // stored row of row i; empty: i
  // The column that stored column i is; null: i. Inputs are reordered alike.
  std::shared_ptr<const std::vector<std::int32_t>> column_of{};
};

// Requires parts of a matrix with rows of `in` elements: whole blocks, all rows and columns named. Errors: kInternal.
void require_fit(std::span<const BlockRows> parts, std::int64_t in);

class BlockMatrix final : public PackedMatrix {
 public:
  // parts: stacked in row order. dtype: of the arithmetic. owner: keeps the bytes alive.
  BlockMatrix(std::vector<BlockRows> parts, std::int64_t in, at::ScalarType dtype, std::vector<std::shared_ptr<const void>> owners);

  std::int64_t out() const override { return first_row_.back(); }
  std::int64_t in() const override { return in_; }
  std::int64_t bytes() const override;
  at::Tensor times(const at::Tensor& input) const override;
  at::Tensor columns(std::int64_t first, std::int64_t count) const override;
  at::Tensor rows(const at::Tensor& ids) const override;

 private:
  struct Place {
    const BlockRows* part;
    std::int64_t row;  // in it
  };
  Place place(std::int64_t row) const;
  // fp32 [in]
  void dequantise(std::int64_t row, float* values) const;
  // Rows [first, first + count), dequantised.
  at::Tensor dequantised(std::int64_t first, std::int64_t count, at::ScalarType type) const;
  at::Tensor times_few(const at::Tensor& input) const;
  at::Tensor times_rounded(const at::Tensor& input) const;
  at::Tensor times_upcast(const at::Tensor& input) const;

  std::vector<BlockRows> parts_;
  std::vector<std::int64_t> first_row_;  // of each part, then the row count
  // The parts' column orders without duplicates, and each part's index into them.
  std::vector<std::shared_ptr<const std::vector<std::int32_t>>> orders_;
  std::vector<std::size_t> order_of_;
  std::int64_t in_;
  bool rounds_ = false;      // a part has an int8 GEMV
  bool rounds_many_ = true;  // all parts have a fast int8 GEMM
  at::ScalarType dtype_;
  std::vector<std::shared_ptr<const void>> owners_;
};

// Input rows quantised to int8 tiles for the int8 GEMM (kernels/api/int8_gemm.h), a limited number of rows at a time.
//
// On the CPU.
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
