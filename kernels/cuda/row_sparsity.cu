// Launches of row maxima and counts below them: argument rules, element type, vector width, split.
#include "kernels/cuda/row_sparsity.cuh"

#include "kernels/cuda/element.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/reference/check_statistics.h"

namespace winnow::kernels {

namespace {

cuda::Grid grid_of(const cuda::RowWalkLaunch& launch) {
  return {static_cast<unsigned>(launch.tiles), static_cast<unsigned>(launch.kv_heads), static_cast<unsigned>(launch.parts)};
}

}  // namespace

LaunchStatus cuda_row_maxima(const CudaRowMaximaArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  if (args.rows == 0 || args.columns == 0) return LaunchStatus::kOk;
  const cuda::RowMaximaLaunch launch = cuda::plan_launch(args);
  cuda::for_type(args.type, [&](auto element) {
    using T = decltype(element);
    if (cuda::reads_vectors<T>(args)) {
      cuda::launch_kernel(cuda::find_row_maxima<T, cuda::kWidest<T>>, grid_of(launch), cuda::kLogitThreads, stream, launch);
    } else {
      cuda::launch_kernel(cuda::find_row_maxima<T, 1>, grid_of(launch), cuda::kLogitThreads, stream, launch);
    }
  });
  return cuda::launch_status();
}

LaunchStatus cuda_count_below(const CudaCountBelowArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  if (args.rows == 0 || args.columns == 0) return LaunchStatus::kOk;
  const cuda::CountBelowLaunch launch = cuda::plan_launch(args);
  cuda::for_type(args.type, [&](auto element) {
    using T = decltype(element);
    if (cuda::reads_vectors<T>(args)) {
      cuda::launch_kernel(cuda::count_below<T, cuda::kWidest<T>>, grid_of(launch), cuda::kLogitThreads, stream, launch);
    } else {
      cuda::launch_kernel(cuda::count_below<T, 1>, grid_of(launch), cuda::kLogitThreads, stream, launch);
    }
  });
  return cuda::launch_status();
}

}  // namespace winnow::kernels
