// libwinnow_cuda.so: the kernels of kernels/cuda on libtorch's stream, behind the table of engine/device/cuda_plugin_abi.h.
//
// Linking it to libtorch_cuda is half of its purpose: opening it registers libtorch's CUDA operators. Nothing throws through the table.
#include <ATen/Context.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#include <torch/headeronly/version.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include "engine/device/cuda_plugin_abi.h"

namespace winnow {
namespace {

constexpr int kLeastComputeMajor = 8;  // the oldest device that the kernels are compiled for

int fail(char* reason, std::size_t reason_bytes, const std::string& text) {
  std::snprintf(reason, reason_bytes, "%s", text.c_str());
  return 1;
}

int start(CudaDeviceRecord* device, char* reason, std::size_t reason_bytes) {
  const auto refuse = [&](const std::string& text) { return fail(reason, reason_bytes, text); };
  try {
    int count = 0;
    if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess) {
      if (error == cudaErrorInsufficientDriver) {
        return refuse("the NVIDIA driver is older than CUDA " + std::to_string(CUDART_VERSION / 1000) + " and needs an update");
      }
      return refuse(std::string("CUDA does not start (") + cudaGetErrorString(error) + ")");
    }
    if (count < 1) return refuse("the NVIDIA driver finds no device");
    cudaDeviceProp properties = {};
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    if (cudaSetDevice(0) != cudaSuccess || cudaGetDeviceProperties(&properties, 0) != cudaSuccess ||
        cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess) {
      return refuse(std::string("the GPU does not answer (") + cudaGetErrorString(cudaGetLastError()) + ")");
    }
    if (properties.major < kLeastComputeMajor) {
      return refuse(std::string("the ") + properties.name + " has compute capability " + std::to_string(properties.major) + "." +
                    std::to_string(properties.minor) + ", and 8.0 (Ampere) is needed");
    }
    if (!at::hasCUDA()) return refuse("libtorch was asked for CUDA before the plug-in was opened, start the program again");
    // fp32 means fp32: no TF32 in products.
    at::globalContext().setFloat32MatmulPrecision("highest");
    std::snprintf(device->name, sizeof device->name, "%s", properties.name);
    device->total_bytes = total_bytes;
    device->free_bytes = free_bytes;
    device->compute_major = properties.major;
    device->compute_minor = properties.minor;
    device->multiprocessors = properties.multiProcessorCount;
    return 0;
  } catch (const std::exception& problem) {
    return refuse(std::string("CUDA does not start (") + problem.what() + ")");
  }
}

// A kernel on libtorch's stream.
template <auto kKernel, class Args>
int launch(const Args* args) {
  try {
    return static_cast<int>(kKernel(*args, c10::cuda::getCurrentCUDAStream(0).stream()));
  } catch (const std::exception&) {
    return static_cast<int>(kernels::LaunchStatus::kDeviceError);
  }
}

int synchronize(char* reason, std::size_t reason_bytes) {
  try {
    const cudaError_t error = cudaStreamSynchronize(c10::cuda::getCurrentCUDAStream(0).stream());
    return error == cudaSuccess ? 0 : fail(reason, reason_bytes, cudaGetErrorString(error));
  } catch (const std::exception& problem) {
    return fail(reason, reason_bytes, problem.what());
  }
}

int record(int (*body)(void* context), void* context, void** recording, char* reason, std::size_t reason_bytes) {
  try {
    static const c10::cuda::CUDAStream aside =
        c10::cuda::getStreamFromPool(/*isHighPriority=*/false, 0);  // the default one cannot be recorded
    auto graph = std::make_unique<at::cuda::CUDAGraph>();
    int given_up = 0;
    {
      const c10::cuda::CUDAStreamGuard on(aside);
      graph->capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
      given_up = body(context);
      graph->capture_end();
    }
    if (given_up != 0) return fail(reason, reason_bytes, "a step could not be recorded");
    *recording = graph.release();
    return 0;
  } catch (const std::exception& problem) {
    return fail(reason, reason_bytes, problem.what());
  }
}

int replay(void* recording) {
  try {
    static_cast<at::cuda::CUDAGraph*>(recording)->replay();
    return static_cast<int>(kernels::LaunchStatus::kOk);
  } catch (const std::exception&) {
    return static_cast<int>(kernels::LaunchStatus::kDeviceError);
  }
}

void forget(void* recording) { delete static_cast<at::cuda::CUDAGraph*>(recording); }

constexpr CudaPluginTable kTable = {
    .abi = kCudaPluginAbi,
    .torch_version = TORCH_VERSION,
    .start = start,
    .decode_attention = launch<kernels::cuda_decode_attention>,
    .append_slots = launch<kernels::cuda_append_slots>,
    .synchronize = synchronize,
    .block_gemv = launch<kernels::cuda_block_gemv>,
    .dequantise_rows = launch<kernels::cuda_dequantise_rows>,
    .gated_activation = launch<kernels::cuda_gated_activation>,
    .rms_norm = launch<kernels::cuda_rms_norm>,
    .rotary = launch<kernels::cuda_rotary>,
    .sample_token = launch<kernels::cuda_sample_token>,
    .gather_slots = launch<kernels::cuda_gather_slots>,
    .column_sums = launch<kernels::cuda_column_sums>,
    .row_maxima = launch<kernels::cuda_row_maxima>,
    .count_below = launch<kernels::cuda_count_below>,
    .cross_modal_entropy = launch<kernels::cuda_cross_modal_entropy>,
    .shared_attention = launch<kernels::cuda_shared_attention>,
    .nearest_rows = launch<kernels::cuda_nearest_rows>,
    .merge_rows = launch<kernels::cuda_merge_rows>,
    .gemv = launch<kernels::cuda_gemv>,
    .change_slots = launch<kernels::cuda_change_slots>,
    .nearest_slots = launch<kernels::cuda_nearest_slots>,
    .rotate_append = launch<kernels::cuda_rotate_append>,
    .unit_keys = launch<kernels::cuda_unit_keys>,
    .record = record,
    .replay = replay,
    .forget = forget,
};

}  // namespace
}  // namespace winnow

extern "C" __attribute__((visibility("default"))) const winnow::CudaPluginTable* winnow_cuda_plugin() { return &winnow::kTable; }
