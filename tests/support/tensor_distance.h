// How far a computed tensor is from a reference.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>

namespace winnow::test_support {

// Largest difference over the largest absolute value of the reference; NaN counts as infinitely far.
inline double relative_distance(const at::Tensor& actual, const at::Tensor& expected) {
  if (actual.sizes() != expected.sizes()) return 1e30;
  if (expected.numel() == 0) return 0.0;
  const at::Tensor wide = expected.to(at::kDouble);
  const double scale = std::max(wide.abs().max().item<double>(), 1e-30);
  const double distance = (actual.to(at::kDouble) - wide).abs().max().item<double>() / scale;
  return distance == distance ? distance : 1e30;
}

}  // namespace winnow::test_support
