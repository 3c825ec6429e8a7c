// Launches of column sums: argument rules, element type, tensor cores or not, vector width, split.
#include "kernels/cuda/column_sums.cuh"

#include <cuda_runtime_api.h>

#include "kernels/cuda/column_sums_matrix.cuh"
#include "kernels/cuda/for_type.h"
#include "kernels/reference/check_column_sums.h"

namespace winnow::kernels {

namespace {

template <class T>
cuda::ColumnSumsLaunch sum_parts(const CudaColumnSumsArgs& args, cudaStream_t on) {
  if constexpr (sizeof(T) == 2) {
    if (cuda::fits_tensor_cores<T>(args)) {
      const cuda::ColumnSumsLaunch launch = cuda::plan_launch(args, cuda::kStripColumns);
      const dim3 blocks(cuda::strip_blocks(launch), static_cast<unsigned>(launch.kv_heads), static_cast<unsigned>(launch.parts));
      cuda::for_strips(args, [&](auto chunks, auto more) {
        cuda::sum_columns_by_matrix<T, decltype(chunks)::value, decltype(more)::value><<<blocks, cuda::kStripThreads, 0, on>>>(launch);
      });
      return launch;
    }
  }
  const cuda::ColumnSumsLaunch launch = cuda::plan_launch(args);
  const dim3 tiles(static_cast<unsigned>(launch.tiles), static_cast<unsigned>(launch.kv_heads), static_cast<unsigned>(launch.parts));
  if (cuda::reads_vectors<T>(args)) {
    cuda::sum_columns<T, cuda::kWidest<T>><<<tiles, cuda::kLogitThreads, 0, on>>>(launch);
  } else {
    cuda::sum_columns<T, 1><<<tiles, cuda::kLogitThreads, 0, on>>>(launch);
  }
  return launch;
}

}  // namespace

LaunchStatus cuda_column_sums(const CudaColumnSumsArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  if (args.rows == 0 || args.columns == 0) return LaunchStatus::kOk;
  const auto on = static_cast<cudaStream_t>(stream);
  cuda::for_type(args.type, [&](auto element) {
    const cuda::ColumnSumsLaunch launch = sum_parts<decltype(element)>(args, on);
    const dim3 columns(static_cast<unsigned>((launch.columns + cuda::kPartThreads - 1) / cuda::kPartThreads), cuda::part_results(launch));
    cuda::add_parts<<<columns, cuda::kPartThreads, 0, on>>>(launch);
  });
  return cudaGetLastError() == cudaSuccess ? LaunchStatus::kOk : LaunchStatus::kDeviceError;
}

}  // namespace winnow::kernels
