// The argument rules of int8 inputs and int8 GEMVs, the same for every implementation.
#pragma once

#include "kernels/api/int8_gemv.h"

namespace winnow::kernels {

inline LaunchStatus check_arguments(const RoundInputArgs& args) {
  const bool good = args.input != nullptr && args.codes != nullptr && args.scales != nullptr && args.half_sums != nullptr &&
                    args.columns >= 0 && args.columns % kQuantisedElements == 0;
  return good ? LaunchStatus::kOk : LaunchStatus::kBadArgument;
}

inline LaunchStatus check_arguments(const Int8GemvArgs& args) {
  const bool good = args.matrix != nullptr && args.output != nullptr && args.input.codes != nullptr && args.input.scales != nullptr &&
                    args.input.half_sums != nullptr && args.columns >= 0 && args.begin >= 0 && args.end >= args.begin &&
                    has_int8_gemv(args.type) && args.columns % block_elements(args.type) == 0;
  return good ? LaunchStatus::kOk : LaunchStatus::kBadArgument;
}

}  // namespace winnow::kernels
