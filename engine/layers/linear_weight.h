// The matrix of a linear layer: numbers of the arithmetic type, or packed into fewer bits.
//
// Held by Linear (linear.h). What an input and an output are made of is the arithmetic type in both cases; how a packed matrix is stored is
// its own affair. Plain values that share their numbers when copied; inference only. Errors: libtorch's own when shapes disagree; packed
// forms say theirs. Threads: engine thread.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "engine/layers/activation.h"

namespace winnow {

class PackedMatrix {
 public:
  virtual ~PackedMatrix() = default;
  virtual std::int64_t out() const = 0;
  virtual std::int64_t in() const = 0;
  virtual std::int64_t bytes() const = 0;  // held, scales and all
  // input: [..., in] in the arithmetic type or in fp32. Returns [..., out] in the same.
  virtual at::Tensor times(const at::Tensor& input) const = 0;
  // Columns [first, first + count) as numbers of the arithmetic type: [out, count].
  virtual at::Tensor columns(std::int64_t first, std::int64_t count) const = 0;
  // Rows as numbers of the arithmetic type, for tables that are looked up: ids int64 [n] on any device, each below out(). Returns [n, in].
  virtual at::Tensor rows(const at::Tensor& ids) const = 0;
};

class LinearWeight {
 public:
  LinearWeight() = default;
  LinearWeight(at::Tensor dense) : dense_(std::move(dense)) {}  // [out, in]; a tensor is a weight
  LinearWeight(std::shared_ptr<const PackedMatrix> packed) : packed_(std::move(packed)) {}

  bool defined() const { return packed_ != nullptr || dense_.defined(); }
  std::int64_t out() const { return packed_ != nullptr ? packed_->out() : dense_.size(0); }
  std::int64_t in() const { return packed_ != nullptr ? packed_->in() : dense_.size(1); }
  std::int64_t bytes() const;
  // input: [..., in]; bias: [out] or undefined. Returns [..., out].
  at::Tensor times(const at::Tensor& input, const at::Tensor& bias) const;
  // The matrix and the bias have gates, then as many rows that they weigh: [..., out / 2], activation(gate) times the other.
  at::Tensor times_gated(const at::Tensor& input, const at::Tensor& bias, Activation activation) const;  // input: [rows, in]
  // The same as times() in fp32, for numbers that are compared with each other, as logits are: where the matrix is packed, or the input is
  // one row (gemv.h), nothing on the way is rounded to the arithmetic type. bf16 would leave steps of 1/8 between logits of 16 and
  // more.
  at::Tensor times_in_fp32(const at::Tensor& input) const;
  at::Tensor columns(std::int64_t first, std::int64_t count) const;  // [out, count]
  at::Tensor rows(const at::Tensor& ids) const;                      // ids: int64 [n], on any device; [n, in]

 private:
  at::Tensor dense_;
  std::shared_ptr<const PackedMatrix> packed_;
};

}  // namespace winnow
