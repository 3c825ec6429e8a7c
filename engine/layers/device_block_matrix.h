// A quantised matrix (block_matrix.h) in GPU memory.
//
// Made by matrix_of_blocks() for models on a GPU; held by LinearWeight. Its blocks are interleaved as they are uploaded
// (kernels/api/cuda_block_layout.h). A few input rows use a GEMV on the blocks (cuda_block_gemv.h), with fp32 sums and unrounded input. For
// many rows, slices are dequantised for libtorch's GEMM (cuda_dequantise_rows.h). Nothing is copied back and nothing waits for the device.
// Needs the CUDA plug-in to be open. Threads: engine thread. Errors: kInternal for parts that do not fit, kOutOfMemory, kDeviceFailed.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/layers/block_matrix.h"
#include "engine/layers/linear_weight.h"

namespace winnow {

class DeviceBlockMatrix final : public PackedMatrix {
 public:
  // parts: stacked in row order, in host memory, which is no longer needed when this returns. dtype: of the arithmetic.
  DeviceBlockMatrix(const std::vector<BlockRows>& parts, std::int64_t in, at::ScalarType dtype, at::Device device);

  std::int64_t out() const override { return out_; }
  std::int64_t in() const override { return in_; }
  std::int64_t bytes() const override;
  at::Tensor times(const at::Tensor& input) const override;
  at::Tensor columns(std::int64_t first, std::int64_t count) const override;
  at::Tensor rows(const at::Tensor& ids) const override;

 private:
  // Stored matrices of one type, stacked: one launch for all of them.
  struct Part {
    kernels::BlockType type = kernels::BlockType::kF32;
    std::int64_t first = 0;  // its first row in the whole matrix
    std::int64_t rows = 0;
    at::Tensor bytes{};      // uint8, interleaved blocks
    at::Tensor row_of{};     // int32 [rows], or undefined
    at::Tensor column_of{};  // int32 [in], or undefined
  };
  Part on_device(const std::vector<BlockRows>& parts, std::size_t first, std::size_t end, at::Device device) const;
  // Uploads stored rows as interleaved blocks (kernels/api/cuda_block_layout.h), from row `above` of the part on.
  void lay_out(const BlockRows& from, std::int64_t above, const Part& part) const;
  at::Tensor times_few(const at::Tensor& input) const;
  // Dequantises rows [first, first + count) of a part, or those that `ids` name, into `numbers`, whose row 0 is the first of them.
  void dequantise(const Part& part, std::int64_t first, std::int64_t count, const at::Tensor& ids, const at::Tensor& numbers) const;
  // Rows [first, first + count) of the whole matrix.
  at::Tensor dequantised(std::int64_t first, std::int64_t count, at::ScalarType type) const;

  std::vector<Part> parts_;
  std::int64_t out_ = 0;
  std::int64_t in_;
  at::ScalarType dtype_;
};

// The quantised matrix for `device`: a BlockMatrix on the CPU, whose owners keep the bytes, else a DeviceBlockMatrix.
std::shared_ptr<const PackedMatrix> matrix_of_blocks(std::vector<BlockRows> parts, std::int64_t in, at::ScalarType dtype,
                                                     std::vector<std::shared_ptr<const void>> owners, at::Device device);

}  // namespace winnow
