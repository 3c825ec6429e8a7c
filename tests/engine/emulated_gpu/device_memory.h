// Memory of the emulated device. Its addresses may not be touched by the host; what lies there is at a fixed distance.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/Device.h>

#include "tests/engine/emulated_gpu/emulated_gpu.h"

namespace winnow::emulated_gpu {

inline const c10::Device kDevice(c10::DeviceType::CUDA, 0);

c10::Allocator* memory();
std::size_t free_bytes();
std::size_t all_bytes();

// What lies at a device address; null of null. Not for the code under test.
void* behind(const void* address);

EmulatedGpuCounts& counts();

}  // namespace winnow::emulated_gpu
