// Every instruction set that this processor has and that kernels are compiled for, one after the other.
#pragma once

#include <gtest/gtest.h>

#include <hwy/targets.h>

#include <cstdint>

namespace winnow::kernels::testing {

template <typename Check>
void with_every_target(const Check& check) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    check();
    hwy::SetSupportedTargetsForTest(0);
  }
}

}  // namespace winnow::kernels::testing
