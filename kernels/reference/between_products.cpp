// The definition of correct: row by row, in double between the roundings.
#include "kernels/api/rms_norm.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/api/gated_activation.h"
#include "kernels/api/rotary.h"
#include "kernels/reference/check_products.h"
#include "kernels/reference/check_rows.h"
#include "kernels/reference/element.h"

namespace winnow::kernels {
namespace {

void normalise(const RmsNormArgs& args, const void* numbers, std::int64_t from, std::int64_t to) {
  double squares = 0.0;
  for (std::int64_t i = 0; i < args.features; ++i) {
    const double number = element(numbers, args.type, from + i);
    squares += number * number;
  }
  const double scale = 1.0 / std::sqrt(squares / static_cast<double>(args.features) + static_cast<double>(args.epsilon));
  for (std::int64_t i = 0; i < args.features; ++i) {
    const double scaled = rounded(args.weight_type, static_cast<float>(element(numbers, args.type, from + i) * scale));
    set_element(args.output, args.type, to + i, static_cast<float>(scaled * element(args.weight, args.weight_type, i)));
  }
}

// The definition of correct: element by element, activations in double.
double activated(Activation activation, double x) {
  switch (activation) {
    case Activation::kSilu: return x / (1.0 + std::exp(-x));
    case Activation::kGelu: return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
    case Activation::kGeluTanh: return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case Activation::kQuickGelu: return x / (1.0 + std::exp(-1.702 * x));
    case Activation::kRelu: return x < 0.0 ? 0.0 : x;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

LaunchStatus rms_norm_reference(const RmsNormArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  for (std::int64_t row = 0; row < args.rows; ++row) {
    for (std::int64_t i = 0; args.added != nullptr && i < args.features; ++i) {
      const std::int64_t place = args.input_strides.at(row, 0) + i;
      const double sum = element(args.input, args.type, place) + element(args.added, args.type, row * args.added_stride + i);
      set_element(args.sum, args.type, place, static_cast<float>(sum));
    }
    for (std::int64_t group = 0; group < args.groups; ++group) {
      normalise(args, args.added != nullptr ? args.sum : args.input, args.input_strides.at(row, group), args.output_strides.at(row, group));
    }
  }
  return LaunchStatus::kOk;
}

// The definition of correct: pair by pair.
LaunchStatus rotary_reference(const RotaryArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  // x cos, rounded, and y sin
  const auto sum = [&](double x, double cosine, double y_sine) {
    return static_cast<float>(rounded(args.type, static_cast<float>(x * cosine)) + y_sine);
  };
  for (std::int64_t row = 0; row < args.rows; ++row) {
    for (std::int64_t head = 0; head < args.heads; ++head) {
      const std::int64_t from = args.input_strides.at(row, head);
      const std::int64_t to = args.output_strides.at(row, head);
      for (std::int64_t i = 0; i < args.half; ++i) {
        const double a = element(args.input, args.type, from + i);
        const double b = element(args.input, args.type, from + args.half + i);
        const double cosine = element(args.cosine, args.type, row * args.half + i);
        const double sine = element(args.sine, args.type, row * args.half + i);
        set_element(args.output, args.type, to + i, sum(a, cosine, -b * sine));
        set_element(args.output, args.type, to + args.half + i, sum(b, cosine, a * sine));
      }
    }
  }
  return LaunchStatus::kOk;
}

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
