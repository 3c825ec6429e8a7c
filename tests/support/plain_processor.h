// A processor without fast products of bytes: what is loaded on it multiplies many rows as numbers, exactly, where others round them.
//
// For tests of values that packed matrices stand for. One at a time; other threads must not choose kernels meanwhile.
#pragma once

#include <hwy/targets.h>

namespace winnow::test_support {

template <class Make>
auto on_a_plain_processor(const Make& make) {
  struct Plain {
    Plain() { hwy::SetSupportedTargetsForTest(hwy::SupportedTargets() & ~(HWY_AVX2 | HWY_AVX3 | HWY_AVX3_DL)); }
    ~Plain() { hwy::SetSupportedTargetsForTest(0); }
  } plain;
  return make();
}

}  // namespace winnow::test_support
