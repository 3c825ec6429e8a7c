// RMS and layer normalisation over the last dimension, rounded as transformers rounds.
//
// Used by engine/models. Inference only. Threads: engine thread.
#pragma once

#include <ATen/ATen.h>

#include <variant>

namespace winnow {

// x / sqrt(mean(x^2) + epsilon) in fp32, rounded to the dtype of x, then times weight in that dtype (Qwen2RMSNorm). A weight in fp32 is
// taken before rounding, which then is the only one (Gemma3RMSNorm). One kernel (kernels/api/rms_norm.h). Errors: kDeviceFailed.
struct RmsNorm {
  at::Tensor weight;  // [features], dtype of x or fp32
  double epsilon = 1e-6;
  // input: [..., features], any dtype that kernels take; returns the same shape, contiguous.
  at::Tensor operator()(const at::Tensor& input) const;
  // Of the sum, which `hidden` becomes first. Both: [rows, features], their last dimension contiguous.
  at::Tensor after_adding(at::Tensor& hidden, const at::Tensor& added) const;
  // rows: [rows, groups, features], any strides but for the last dimension, which is contiguous.
  void in_place(at::Tensor& rows) const;
};

struct LayerNorm {
  at::Tensor weight;  // [features]
  at::Tensor bias;    // [features]
  double epsilon = 1e-6;
  at::Tensor operator()(const at::Tensor& input) const;
  at::Tensor after_adding(at::Tensor& hidden, const at::Tensor& added) const { return (*this)(hidden.add_(added)); }
};

// Whichever the model has.
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
