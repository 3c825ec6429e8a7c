// Launches of column sums: argument rules, element type, vector width, split.
#include "kernels/cuda/column_sums.cuh"

#include <cuda_runtime_api.h>

#include "kernels/cuda/for_type.h"
#include "kernels/reference/check_column_sums.h"

namespace winnow::kernels {

LaunchStatus cuda_column_sums(const CudaColumnSumsArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  if (args.rows == 0 || args.columns == 0) return LaunchStatus::kOk;
  const cuda::ColumnSumsLaunch launch = cuda::plan_launch(args);
  const auto on = static_cast<cudaStream_t>(stream);
  const dim3 tiles(static_cast<unsigned>(launch.tiles), static_cast<unsigned>(launch.kv_heads), static_cast<unsigned>(launch.parts));
  cuda::for_type(args.type, [&](auto element) {
    using T = decltype(element);
    if (cuda::reads_vectors<T>(args)) {
      cuda::sum_columns<T, cuda::kWidest<T>><<<tiles, cuda::kTileThreads, 0, on>>>(launch);
    } else {
      cuda::sum_columns<T, 1><<<tiles, cuda::kTileThreads, 0, on>>>(launch);
    }
  });
  const dim3 columns(static_cast<unsigned>((launch.columns + cuda::kPartThreads - 1) / cuda::kPartThreads), cuda::part_results(launch));
  cuda::add_parts<<<columns, cuda::kPartThreads, 0, on>>>(launch);
  return cudaGetLastError() == cudaSuccess ? LaunchStatus::kOk : LaunchStatus::kDeviceError;
}

}  // namespace winnow::kernels
