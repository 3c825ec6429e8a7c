// The matrix of a linear layer: dense in the arithmetic type, or quantised.
//
// Held by Linear (linear.h). Input and output have the arithmetic type in both cases; how a quantised matrix is stored is its own business.
// Plain values that share their storage when copied; inference only. Errors: libtorch's own when shapes disagree; quantised matrices
// document theirs. Threads: engine thread.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>

#include "engine/layers/activation.h"

namespace winnow {

class PackedMatrix {
 public:
  virtual ~PackedMatrix() = default;
  virtual std::int64_t out() const = 0;
  virtual std::int64_t in() const = 0;
  virtual std::int64_t bytes() const = 0;  // held, scales included
  // input: [..., in] in the arithmetic type or in fp32. Returns [..., out] in the same.
  virtual at::Tensor times(const at::Tensor& input) const = 0;
  // Columns [first, first + count) in the arithmetic type: [out, count].
  virtual at::Tensor columns(std::int64_t first, std::int64_t count) const = 0;
  // Rows in the arithmetic type, for embedding tables: ids int64 [n] on any device, each below out(). Returns [n, in].
  virtual at::Tensor rows(const at::Tensor& ids) const = 0;
};

class LinearWeight {
 public:
  LinearWeight() = default;
  LinearWeight(at::Tensor dense) : dense_(std::move(dense)) {}  // [out, in]
  LinearWeight(std::shared_ptr<const PackedMatrix> packed) : packed_(std::move(packed)) {}

  bool defined() const { return packed_ != nullptr || dense_.defined(); }
  std::int64_t out() const { return packed_ != nullptr ? packed_->out() : dense_.size(0); }
  std::int64_t in() const { return packed_ != nullptr ? packed_->in() : dense_.size(1); }
  std::int64_t bytes() const;
  // input: [..., in]; bias: [out] or undefined. Returns [..., out].
  at::Tensor times(const at::Tensor& input, const at::Tensor& bias) const;
  // Matrix and bias hold gate rows, then as many up rows. Returns [..., out / 2]: activation(gate) times up.
  at::Tensor times_gated(const at::Tensor& input, const at::Tensor& bias, Activation activation) const;  // input: [rows, in]
  // times() with an fp32 result, for values that are compared, such as logits: bf16 would leave steps of 1/8 between logits of 16 and more.
  // With a quantised matrix or one row of input (gemv.h), nothing is rounded to the arithmetic type on the way.
  at::Tensor times_in_fp32(const at::Tensor& input) const;
  at::Tensor columns(std::int64_t first, std::int64_t count) const;  // [out, count]
  at::Tensor rows(const at::Tensor& ids) const;                      // ids: int64 [n], on any device; [n, in]

 private:
  at::Tensor dense_;
  std::shared_ptr<const PackedMatrix> packed_;
};

}  // namespace winnow
