// A matrix whose numbers stay in the blocks that a file stores them in (block_matrix.h), in the memory of a GPU.
//
// Made by matrix_of_blocks() for models on a GPU; held by LinearWeight. Its bits are put into another order on the way to the device
// (kernels/api/cuda_block_layout.h). A few rows of input are multiplied with the blocks (cuda_block_gemv.h), summed in fp32 and without
// rounding the input; for many, some of the matrix is dequantised at a time for
// libtorch's product (cuda_dequantise_rows.h). Nothing comes back to the host and nobody waits for the device. Needs the CUDA plug-in to be
// open. Threads: engine thread. Errors: kInternal for parts that do not fit, kOutOfMemory, kDeviceFailed.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/layers/block_matrix.h"
#include "engine/layers/linear_weight.h"

namespace winnow {

class DeviceBlockMatrix final : public PackedMatrix {
 public:
  // parts: one below the other, in the host's memory, of which none is needed when this returns. dtype: of the arithmetic.
  DeviceBlockMatrix(const std::vector<BlockRows>& parts, std::int64_t in, at::ScalarType dtype, at::Device device);

  std::int64_t out() const override { return out_; }
  std::int64_t in() const override { return in_; }
  std::int64_t bytes() const override;
  at::Tensor times(const at::Tensor& input) const override;
  at::Tensor columns(std::int64_t first, std::int64_t count) const override;
  at::Tensor rows(const at::Tensor& ids) const override;

 private:
  // Stored matrices of one type, one below the other: one launch for all of them.
  struct Part {
    kernels::BlockType type = kernels::BlockType::kF32;
    std::int64_t first = 0;  // its first row of the whole
    std::int64_t rows = 0;
    at::Tensor bytes;      // uint8, laid out
    at::Tensor row_of;     // int32 [rows], or undefined
    at::Tensor column_of;  // int32 [in], or undefined
  };
  Part on_device(const std::vector<BlockRows>& parts, std::size_t first, std::size_t end, at::Device device) const;
  // Stored rows into the device's memory, `above` rows below the part's first, as kernels read them (kernels/api/cuda_block_layout.h).
  void lay_out(const BlockRows& from, std::int64_t above, const Part& part) const;
  at::Tensor times_few(const at::Tensor& input) const;
  // Rows [first, first + count) of a part, or those that `ids` name, into `numbers`, whose first row is their first.
  void dequantise(const Part& part, std::int64_t first, std::int64_t count, const at::Tensor& ids, const at::Tensor& numbers) const;
  // Rows [first, first + count) of the whole.
  at::Tensor dequantised(std::int64_t first, std::int64_t count, at::ScalarType type) const;

  std::vector<Part> parts_;
  std::int64_t out_ = 0;
  std::int64_t in_;
  at::ScalarType dtype_;
};

// What LinearWeight holds of blocks on `device`: a BlockMatrix on the CPU, whose owners keep the bytes, else a DeviceBlockMatrix.
std::shared_ptr<const PackedMatrix> matrix_of_blocks(std::vector<BlockRows> parts, std::int64_t in, at::ScalarType dtype,
                                                     std::vector<std::shared_ptr<const void>> owners, at::Device device);

}  // namespace winnow
