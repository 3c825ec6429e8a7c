// The CUDA plug-in as the engine sees it: found, opened and checked on first need, kept until the process ends.
//
// The program is linked to libtorch's CPU libraries only. The plug-in brings libtorch's CUDA libraries along, and with RTLD_GLOBAL their
// operators register themselves; this must happen before anything asks libtorch whether there is CUDA, because it remembers the answer.
// Used by engine/generation (which device a model gets), engine/kv_cache, engine/layers and engine/compression (kernels). No torch in this
// header. Errors: Exception kDeviceUnavailable (subject "cuda", reason with the remedy); kDeviceFailed from synchronize_device() and
// require_launched(). Engine thread.
#pragma once

#include <cstdint>
#include <string>

#include "engine/device/cuda_plugin_abi.h"

namespace winnow {

struct CudaDevice {
  std::string name;
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;  // when it was opened
  std::int64_t multiprocessors = 0;
};

// Environment variable with the plug-in's path; without it the plug-in is beside the program or in ../lib.
inline constexpr const char* kCudaPluginVariable = "WINNOW_CUDA_PLUGIN";
inline constexpr const char* kCudaPluginFile = "libwinnow_cuda.so";

// Looks for driver and device first, which is cheap, then opens the plug-in, which loads gigabytes. Later calls return the same device.
const CudaDevice& open_cuda();

// The functions of the plug-in that open_cuda() opened. kInternal before that.
const CudaPluginTable& cuda_plugin();

// Throws unless `status`, returned by a function of the table, is kOk: kDeviceFailed if the launch failed, kInternal if the arguments were
// refused. what: "attention", for the reason.
void require_launched(int status, const char* what);

// Waits for the device, for timings; does nothing unless open_cuda() has succeeded.
void synchronize_device();

// The parts of open_cuda(), for tests.
// The plug-in's path: the variable's, or the file in one of `folders`; throws if there is none.
std::string find_cuda_plugin(const char* variable, const std::string& program_folder);
// Opens the file and checks symbol, version and libtorch. The library stays open.
const CudaPluginTable& load_cuda_plugin(const std::string& path);

}  // namespace winnow
