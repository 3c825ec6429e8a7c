// The definition of correct: pair by pair.
#include "kernels/api/rotary.h"

#include "kernels/reference/check_rotary.h"
#include "kernels/reference/element.h"

namespace winnow::kernels {

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

}  // namespace winnow::kernels
