// libtorch's and NVIDIA's CUDA libraries where they lie in a folder of their own: opened, so that the plug-in finds them open.
//
// Used by cuda_plugin.cpp. An installed program names the folder in WINNOW_CUDA_LIBRARIES; it is laid out as the wheels are (torch/lib,
// nvidia/*/lib), and may be filled while the program runs. Without it those are taken that the plug-in's own search path names.
// Errors: Exception kDeviceUnavailable (subject "cuda"). Engine thread.
#pragma once

namespace winnow {

inline constexpr const char* kCudaLibrariesVariable = "WINNOW_CUDA_LIBRARIES";

// libtorch_cuda of that folder with all that it asks for; nothing where the folder has none, or null is given.
void open_cuda_libraries(const char* folder);

}  // namespace winnow
