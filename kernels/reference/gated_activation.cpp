// The definition of correct: element by element, activations in double.
#include "kernels/api/gated_activation.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/reference/check_gated_activation.h"
#include "kernels/reference/element.h"

namespace winnow::kernels {
namespace {

double activated(Activation activation, double x) {
  switch (activation) {
    case Activation::kSilu:
      return x / (1.0 + std::exp(-x));
    case Activation::kGelu:
      return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
    case Activation::kGeluTanh:
      return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case Activation::kQuickGelu:
      return x / (1.0 + std::exp(-1.702 * x));
    case Activation::kRelu:
      return x < 0.0 ? 0.0 : x;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

LaunchStatus gated_activation_reference(const GatedActivationArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  for (std::int64_t row = 0; row < args.rows; ++row) {
    for (std::int64_t column = 0; column < args.columns; ++column) {
      const std::int64_t from = row * args.stride + column;
      const double gate = activated(args.activation, element(args.gate, args.type, from));
      const double product = rounded(args.type, static_cast<float>(gate)) * element(args.up, args.type, from);
      set_element(args.output, args.type, row * args.columns + column, static_cast<float>(product));
    }
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
