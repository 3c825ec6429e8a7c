// An operator on the CPU: checks its arguments, then runs the vector form for this processor.
//
// Used by the *_cpu functions of kernels/cpu with HWY_DYNAMIC_DISPATCH. check_arguments() comes from kernels/reference/check_<op>.h.
#pragma once

#include "kernels/api/element_type.h"

namespace winnow::kernels {

template <class Args>
LaunchStatus run_checked(const Args& args, void (*run)(const Args&)) {
  const LaunchStatus status = check_arguments(args);
  if (status == LaunchStatus::kOk) run(args);
  return status;
}

}  // namespace winnow::kernels
