// The argument rules of GEMVs with dense matrices, the same for every implementation.
#pragma once

#include "kernels/api/dense_gemv.h"

namespace winnow::kernels {

inline LaunchStatus check_arguments(const DenseGemvArgs& args) {
  if (args.matrix == nullptr || args.input == nullptr || args.output == nullptr || args.columns < 0 || args.begin < 0 ||
      args.end < args.begin || !is_known(args.type)) {
    return LaunchStatus::kBadArgument;
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
