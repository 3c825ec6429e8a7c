#include "engine/layers/activation.h"

#include <ATen/ATen.h>

#include "engine/base/error.h"

namespace winnow {

at::Tensor& activate(Activation activation, at::Tensor& values) {
  switch (activation) {
    case Activation::kSilu:
      return at::silu_(values);
    case Activation::kGelu:
      return at::gelu_(values);
    case Activation::kGeluTanh:
      return at::gelu_(values, "tanh");
    case Activation::kQuickGelu:
      return values.mul_(at::sigmoid(values * 1.702));
    case Activation::kRelu:
      return at::relu_(values);
  }
  throw Exception(ErrorCode::kInternal, "", "unknown activation");
}

}  // namespace winnow
