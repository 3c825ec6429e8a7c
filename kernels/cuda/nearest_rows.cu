// Launches of nearest rows: argument rules, vector width, split.
#include "kernels/cuda/nearest_rows.cuh"

#include <cuda_runtime_api.h>

#include "kernels/reference/check_merging.h"

namespace winnow::kernels {

LaunchStatus cuda_nearest_rows(const CudaNearestRowsArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  if (args.asking_count == 0) return LaunchStatus::kOk;
  const cuda::NearestLaunch launch = cuda::plan_launch(args);
  const auto on = static_cast<cudaStream_t>(stream);
  const auto blocks = [](std::int64_t rows, std::int64_t share) { return static_cast<unsigned>((rows + share - 1) / share); };
  const dim3 measured(blocks(args.asking_count + args.among_count, cuda::kNearThreads / 32), args.second != nullptr ? 2 : 1);
  cuda::measure_rows<<<measured, cuda::kNearThreads, 0, on>>>(launch);
  const dim3 compared(blocks(args.asking_count, kNearestTile), static_cast<unsigned>(launch.parts));
  if (cuda::reads_vectors(args)) {
    cuda::compare_rows<4><<<compared, cuda::kNearThreads, 0, on>>>(launch);
  } else {
    cuda::compare_rows<1><<<compared, cuda::kNearThreads, 0, on>>>(launch);
  }
  cuda::join_nearest<<<blocks(args.asking_count, cuda::kNearThreads), cuda::kNearThreads, 0, on>>>(launch);
  return cudaGetLastError() == cudaSuccess ? LaunchStatus::kOk : LaunchStatus::kDeviceError;
}

}  // namespace winnow::kernels
