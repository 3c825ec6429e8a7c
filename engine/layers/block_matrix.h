// A matrix whose numbers stay in the blocks that a file stores them in (kernels/api/block_types.h), read where they lie.
//
// Made by engine/models/weight_reader.h for weights that are used as they are stored; held by LinearWeight. Its rows may come from several
// stored matrices of different types (q, k and v as one product). A row is rounded to eight bits for every 32 elements and multiplied in
// integers, a few of them block by block (kernels/api/int8_gemv.h), many over blocks that are unpacked once (int8_gemm.h), or,
// with the types that have no such product, as it is in fp32. Many rows are not rounded where dequantising some of the matrix at a time and
// multiplying numbers is faster: on processors without fast products of bytes, and in bf16 on those with tiles of bf16 (AMX).
// On the CPU. Threads: engine thread (runs on libtorch's pool inside). Errors: kInternal for parts that do not fit.
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
  std::vector<std::int32_t> row_of{};  // which stored row is row i; empty: the i-th
  // Which column stored column i is; null: the i-th. Inputs are put in that order, too.
  std::shared_ptr<const std::vector<std::int32_t>> column_of{};
};

// Whether they are parts of a matrix with rows of `in` numbers: whole blocks, all rows, all columns named. Errors: kInternal.
void require_fit(std::span<const BlockRows> parts, std::int64_t in);

class BlockMatrix final : public PackedMatrix {
 public:
  // parts: one below the other. dtype: of the arithmetic. owner: keeps the bytes.
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
  // Rows [first, first + count) as numbers.
  at::Tensor dequantised(std::int64_t first, std::int64_t count, at::ScalarType type) const;
  at::Tensor times_few(const at::Tensor& input) const;
  at::Tensor times_rounded(const at::Tensor& input) const;
  at::Tensor times_upcast(const at::Tensor& input) const;

  std::vector<BlockRows> parts_;
  std::vector<std::int64_t> first_row_;  // of each part, and the number of all rows
  // Orders of columns that a part has, each once, and which of them.
  std::vector<std::shared_ptr<const std::vector<std::int32_t>>> orders_;
  std::vector<std::size_t> order_of_;
  std::int64_t in_;
  bool rounds_ = false;      // a part has a product of rounded rows
  bool rounds_many_ = true;  // all parts have a fast one of many
  at::ScalarType dtype_;
  std::vector<std::shared_ptr<const void>> owners_;
};

}  // namespace winnow
