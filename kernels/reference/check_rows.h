// The argument rules of operators that go over rows, the same for every implementation.
#pragma once

#include <cmath>

#include "kernels/api/gated_delta.h"
#include "kernels/api/rms_norm.h"
#include "kernels/api/rotary.h"
#include "kernels/api/sample_token.h"

namespace winnow::kernels {

inline LaunchStatus check_arguments(const RmsNormArgs& args) {
  if (args.input == nullptr || args.weight == nullptr || args.output == nullptr || args.rows < 0 || args.groups < 0 || args.features < 1 ||
      args.input_strides.is_negative() || args.output_strides.is_negative() || args.added_stride < 0 || !is_known(args.type) ||
      (args.weight_type != args.type && args.weight_type != ElementType::kFp32)) {
    return LaunchStatus::kBadArgument;
  }
  if (args.added != nullptr && (args.sum == nullptr || args.groups != 1)) return LaunchStatus::kBadArgument;
  if (args.features > kMaxNormFeatures || args.rows > kMaxNormRows || args.groups > kMaxNormRows ||
      args.rows * args.groups > kMaxNormRows) {
    return LaunchStatus::kUnsupported;
  }
  return LaunchStatus::kOk;
}

inline LaunchStatus check_arguments(const RotaryArgs& args) {
  if (args.input == nullptr || args.cosine == nullptr || args.sine == nullptr || args.output == nullptr || args.rows < 0 ||
      args.heads < 0 || args.half < 0 || args.input_strides.is_negative() || args.output_strides.is_negative() || !is_known(args.type)) {
    return LaunchStatus::kBadArgument;
  }
  if (args.rows > kMaxRotaryRows || args.heads > kMaxRotaryPairs || args.half > kMaxRotaryPairs ||
      args.heads * args.half > kMaxRotaryPairs) {
    return LaunchStatus::kUnsupported;
  }
  return LaunchStatus::kOk;
}

inline LaunchStatus check_arguments(const GatedDeltaArgs& args) {
  if (args.query == nullptr || args.key == nullptr || args.value == nullptr || args.decay == nullptr || args.beta == nullptr ||
      args.state == nullptr || args.output == nullptr || args.tokens < 0 || args.key_heads < 1 || args.value_heads < 1 ||
      args.key_head < 0 || args.key_head >= args.key_heads || args.key_dim < 1 || args.value_dim < 1 || args.head < 0 ||
      args.head >= args.value_heads || args.first_column < 0 || args.columns < 0 || args.columns > args.value_dim - args.first_column) {
    return LaunchStatus::kBadArgument;
  }
  return args.key_dim > kMaxDeltaKey ? LaunchStatus::kUnsupported : LaunchStatus::kOk;
}

inline LaunchStatus check_arguments(const SampleTokenArgs& args) {
  const auto within = [](double number, double most) { return number >= 0.0 && number <= most; };  // NaN is not
  const bool penalised = args.seen != nullptr;
  if (args.logits == nullptr || args.workspace == nullptr || args.choice == nullptr || args.vocabulary < 1 ||
      !within(args.temperature, HUGE_VAL) || std::isinf(args.temperature) || args.top_k < 0 || !within(args.top_p, 1.0) ||
      !within(args.min_p, 1.0) || !within(args.uniform, 1.0) || args.uniform == 1.0 || !(args.repetition_penalty > 0.0) ||
      std::isinf(args.repetition_penalty) || args.fresh_count < 0 || (args.fresh_count > 0 && (args.fresh == nullptr || !penalised))) {
    return LaunchStatus::kBadArgument;
  }
  return args.vocabulary > kMaxChoices ? LaunchStatus::kUnsupported : LaunchStatus::kOk;
}

}  // namespace winnow::kernels
