// Base of tests that need a GPU: opens the plug-in before anything asks libtorch for CUDA, skips with the reason where that fails.
#pragma once

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "engine/base/error.h"
#include "engine/device/cuda_plugin.h"

namespace winnow::test_support {

// Nothing: a device is there.
inline const std::optional<std::string>& why_no_device() {
  static const std::optional<std::string> reason = []() -> std::optional<std::string> {
    try {
      open_cuda();
      return std::nullopt;
    } catch (const Exception& problem) {
      return std::string(problem.what());
    }
  }();
  return reason;
}

inline const at::Device kGpu(at::kCUDA, 0);

template <class Base>
class NeedsDevice : public Base {
 protected:
  void SetUp() override {
    if (why_no_device()) GTEST_SKIP() << *why_no_device();
    at::manual_seed(17);
  }
  c10::InferenceMode inference_;
};

}  // namespace winnow::test_support
