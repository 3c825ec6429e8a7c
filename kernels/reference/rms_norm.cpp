// The definition of correct: row by row, in double between the roundings.
#include "kernels/api/rms_norm.h"

#include <cmath>

#include "kernels/reference/check_rms_norm.h"
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

}  // namespace winnow::kernels
