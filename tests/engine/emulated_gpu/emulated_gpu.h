// A GPU for tests that is none: a CUDA plug-in (libemulated_gpu.so) and a driver (libcuda.so.1) that the engine opens as it opens the real
// ones, so that what runs is the engine as it is with --device cuda.
//
// The plug-in registers libtorch's operators for the CUDA dispatch key. Memory is its own: what the host touches of it is a fault, what
// nobody has written is NaN. Every operator runs on the CPU over that memory (operators.cpp), as libtorch's CUDA kernels would, and refuses
// tensors of two devices; copies between the devices, waits and launches are counted. No torch in this header. One thread.
#pragma once

#include <cstdint>

namespace winnow {

struct EmulatedGpuCounts {
  std::int64_t waits = 0;           // of the host for the device: .item(), blocking copies either way, results of unknown size
  std::int64_t copies_to_host = 0;  // .item() included
  std::int64_t bytes_to_host = 0;
  std::int64_t copies_to_device = 0;
  std::int64_t bytes_to_device = 0;
  std::int64_t recordings = 0;
  std::int64_t replays = 0;   // of recordings; what they launch counts, too
  std::int64_t launches = 0;  // operators that compute or copy on the device, libtorch's and our own; a launch of a kernel each, or more
  std::int64_t allocations = 0;
  std::int64_t bytes_held = 0;  // of allocations that have not been freed

  EmulatedGpuCounts operator-(const EmulatedGpuCounts& before) const {
    return {waits - before.waits,
            copies_to_host - before.copies_to_host,
            bytes_to_host - before.bytes_to_host,
            copies_to_device - before.copies_to_device,
            bytes_to_device - before.bytes_to_device,
            recordings - before.recordings,
            replays - before.replays,
            launches - before.launches,
            allocations - before.allocations,
            bytes_held - before.bytes_held};
  }
};

// extern "C" EmulatedGpuCounts* emulated_gpu_counts(); of the plug-in.
inline constexpr const char* kEmulatedGpuCountsSymbol = "emulated_gpu_counts";

}  // namespace winnow
