// Tests that need a CUDA device; they are skipped with the reason where there is none.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

namespace winnow::kernels::testing {

class OnCudaDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    const cudaError_t error = cudaGetDeviceCount(&devices);
    if (error != cudaSuccess || devices < 1) GTEST_SKIP() << "no CUDA device: " << cudaGetErrorString(error);
  }
};

}  // namespace winnow::kernels::testing
