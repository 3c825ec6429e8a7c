// RMS and layer normalisation over the last dimension, with transformers' rounding.
//
// Used by engine/models. Inference only. Threads: engine thread.
#pragma once

#include <ATen/ATen.h>

#include <variant>

namespace winnow {

// x / sqrt(mean(x^2) + epsilon) in fp32, rounded to the dtype of x, then times weight in that dtype (Qwen2RMSNorm). An fp32 weight is
// applied before the one rounding (Gemma3RMSNorm). One kernel (kernels/api/rms_norm.h). Errors: kDeviceFailed.
struct RmsNorm {
  at::Tensor weight;  // [features], dtype of x or fp32
  double epsilon = 1e-6;
  // input: [..., features] of a kernel element type; returns the same shape, contiguous.
  at::Tensor operator()(const at::Tensor& input) const;
  // Adds to `hidden` first and normalises the sum. Both: [rows, features], their last dimension contiguous.
  at::Tensor after_adding(at::Tensor& hidden, const at::Tensor& added) const;
  // rows: [rows, groups, features], any strides with a contiguous last dimension.
  void in_place(at::Tensor& rows) const;
};

struct LayerNorm {
  at::Tensor weight;  // [features]
  at::Tensor bias;    // [features]
  double epsilon = 1e-6;
  at::Tensor operator()(const at::Tensor& input) const;
  at::Tensor after_adding(at::Tensor& hidden, const at::Tensor& added) const { return (*this)(hidden.add_(added)); }
};

// The norm that the model has.
struct Norm {
  std::variant<RmsNorm, LayerNorm> kind;
  at::Tensor operator()(const at::Tensor& input) const {
    return std::visit([&](const auto& norm) { return norm(input); }, kind);
  }
  at::Tensor after_adding(at::Tensor& hidden, const at::Tensor& added) const {
    return std::visit([&](const auto& norm) { return norm.after_adding(hidden, added); }, kind);
  }
};

}  // namespace winnow
