// Launches of sample_token.
#include "kernels/cuda/sample_token.cuh"

#include "kernels/cuda/launch.h"
#include "kernels/reference/check_rows.h"

namespace winnow::kernels {

LaunchStatus cuda_sample_token(const SampleTokenArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  const cuda::ChooseLaunch launch = cuda::plan_launch(args);
  const auto chunks = static_cast<unsigned>(launch.chunks);
  cuda::launch_kernel(cuda::find_best, chunks, cuda::kChoiceThreads, stream, launch);
  if (args.temperature == 0.0) {
    cuda::launch_kernel(cuda::take_best, 1, cuda::kChoiceThreads, stream, launch);
  } else {
    cuda::launch_kernel(cuda::sort_chunk, chunks, cuda::kChoiceThreads, stream, launch);
    cuda::launch_kernel(cuda::draw_token, 1, cuda::kChoiceThreads, stream, launch);
  }
  return cuda::launch_status();
}

}  // namespace winnow::kernels
