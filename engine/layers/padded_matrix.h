// A quantised matrix whose rows are zero-padded to whole blocks.
//
// Made by block_packing.h (engine/models) for published towers (SigLIP so400m: rows of 4,304); held by LinearWeight. Inputs are padded
// alike, so results do not change. On the matrix's device. Threads: engine thread.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>

#include "engine/layers/linear_weight.h"

namespace winnow {

class PaddedMatrix final : public PackedMatrix {
 public:
  // whole: [out, at least in], zeros from column `in` on. Errors: kInternal if it has fewer columns.
  PaddedMatrix(std::shared_ptr<const PackedMatrix> whole, std::int64_t in);

  std::int64_t out() const override { return whole_->out(); }
  std::int64_t in() const override { return in_; }
  std::int64_t bytes() const override { return whole_->bytes(); }
  at::Tensor times(const at::Tensor& input) const override;
  at::Tensor columns(std::int64_t first, std::int64_t count) const override;
  at::Tensor rows(const at::Tensor& ids) const override;

 private:
  std::shared_ptr<const PackedMatrix> whole_;
  std::int64_t in_;
};

}  // namespace winnow
