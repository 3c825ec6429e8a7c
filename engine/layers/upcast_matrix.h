// A 16-bit matrix that is multiplied in fp32: its elements are upcast exactly as they are read.
//
// Made by models/weights/weight_reader.h on processors that compute in fp32 with bf16 or fp16 folders; held by LinearWeight. It needs half
// of the upcast matrix's memory and half of its time in a decode step; results equal the upcast matrix's up to the order of sums. A few
// rows use the GEMV (kernels/api/dense_gemv.h); for many rows a slice of the matrix is upcast at a time. On the CPU. Threads: engine thread
// (runs on libtorch's pool inside). Errors: kInternal for other types.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "engine/layers/linear_weight.h"

namespace winnow {

class UpcastMatrix final : public PackedMatrix {
 public:
  // numbers: [out, in], bf16 or fp16, contiguous.
  explicit UpcastMatrix(at::Tensor numbers);

  std::int64_t out() const override { return numbers_.size(0); }
  std::int64_t in() const override { return numbers_.size(1); }
  std::int64_t bytes() const override { return static_cast<std::int64_t>(numbers_.nbytes()); }
  at::Tensor times(const at::Tensor& input) const override;  // fp32
  at::Tensor columns(std::int64_t first, std::int64_t count) const override;
  at::Tensor rows(const at::Tensor& ids) const override;

 private:
  at::Tensor times_few(const at::Tensor& input) const;
  at::Tensor times_many(const at::Tensor& input) const;

  at::Tensor numbers_;
};

}  // namespace winnow
