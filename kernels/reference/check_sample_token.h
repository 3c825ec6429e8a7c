// The argument rules of sample_token, the same for every implementation; reads no device memory.
#pragma once

#include <cmath>

#include "kernels/api/sample_token.h"

namespace winnow::kernels {

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
