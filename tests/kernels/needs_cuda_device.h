// A fixture of tests that need a CUDA device: they skip with the reason where none is.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

namespace winnow::kernels::testing {

class NeedsCudaDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    const cudaError_t error = cudaGetDeviceCount(&devices);
    if (error != cudaSuccess || devices < 1) GTEST_SKIP() << "no CUDA device: " << cudaGetErrorString(error);
  }
};

}  // namespace winnow::kernels::testing
