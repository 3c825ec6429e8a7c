// Launches of append_slots.
#include "kernels/cuda/append_slots.cuh"

#include "kernels/cuda/launch.h"
#include "kernels/reference/check_append.h"

namespace winnow::kernels {

LaunchStatus cuda_append_slots(const AppendSlotsArgs& args, void* stream) {
  if (const LaunchStatus status = check_append(args); status != LaunchStatus::kOk) return status;
  const cuda::AppendLaunch launch = cuda::plan_launch(args);
  const cuda::Grid grid(static_cast<unsigned>((args.tokens + cuda::kAppendTokens - 1) / cuda::kAppendTokens),
                        static_cast<unsigned>(args.kv_heads));
  if (args.element_bytes == 2) {
    cuda::launch_overlapped(cuda::append_rows<std::uint16_t>, grid, 32 * cuda::kAppendTokens, stream, launch);
  } else {
    cuda::launch_overlapped(cuda::append_rows<std::uint32_t>, grid, 32 * cuda::kAppendTokens, stream, launch);
  }
  return cuda::launch_status();
}

}  // namespace winnow::kernels
