// The launch of nearest slots by cosine.
#include "kernels/cuda/nearest_slots.cuh"

#include <algorithm>

#include "kernels/cuda/for_type.h"
#include "kernels/cuda/launch.h"
#include "kernels/reference/check_leaving_slots.h"

namespace winnow::kernels {

LaunchStatus cuda_nearest_slots(const CudaNearestSlotsArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  constexpr std::int64_t kMostRows = 65535;  // of a grid
  for (std::int64_t first = 0; first < args.count; first += kMostRows) {
    CudaNearestSlotsArgs some = args;
    some.asked += first;
    some.found += first * args.parts;
    const cuda::Grid grid(static_cast<unsigned>(args.parts), static_cast<unsigned>(std::min(kMostRows, args.count - first)));
    cuda::for_type(args.type, [&](auto element) {
      cuda::launch_kernel(cuda::find_similar<decltype(element)>, grid, 32 * cuda::kNearestSlotWarps, stream, some);
    });
  }
  return cuda::launch_status();
}

}  // namespace winnow::kernels
