// Launches of column sums: argument rules, element type, tensor cores or not, vector width, split.
#include "kernels/cuda/column_sums.cuh"

#include "kernels/cuda/column_sums_matrix.cuh"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/reference/check_statistics.h"

namespace winnow::kernels {

namespace {

template <class T>
cuda::ColumnSumsLaunch sum_parts(const CudaColumnSumsArgs& args, void* stream) {
  if constexpr (sizeof(T) == 2) {
    if (cuda::fits_tensor_cores<T>(args)) {
      const cuda::ColumnSumsLaunch launch = cuda::plan_launch(args, cuda::kStripColumns);
      const cuda::Grid blocks(cuda::strip_blocks(launch), static_cast<unsigned>(launch.kv_heads), static_cast<unsigned>(launch.parts));
      cuda::for_strips(args, [&](auto chunks, auto more) {
        cuda::launch_kernel(cuda::sum_columns_by_matrix<T, decltype(chunks)::value, decltype(more)::value>, blocks, cuda::kStripThreads,
                            stream, launch);
      });
      return launch;
    }
  }
  const cuda::ColumnSumsLaunch launch = cuda::plan_launch(args);
  const cuda::Grid tiles(static_cast<unsigned>(launch.tiles), static_cast<unsigned>(launch.kv_heads), static_cast<unsigned>(launch.parts));
  if (cuda::reads_vectors<T>(args)) {
    cuda::launch_kernel(cuda::sum_columns<T, cuda::kWidest<T>>, tiles, cuda::kLogitThreads, stream, launch);
  } else {
    cuda::launch_kernel(cuda::sum_columns<T, 1>, tiles, cuda::kLogitThreads, stream, launch);
  }
  return launch;
}

}  // namespace

LaunchStatus cuda_column_sums(const CudaColumnSumsArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  if (args.rows == 0 || args.columns == 0) return LaunchStatus::kOk;
  cuda::for_type(args.type, [&](auto element) {
    const cuda::ColumnSumsLaunch launch = sum_parts<decltype(element)>(args, stream);
    const cuda::Grid columns(static_cast<unsigned>((launch.columns + cuda::kPartThreads - 1) / cuda::kPartThreads),
                             cuda::part_results(launch));
    cuda::launch_kernel(cuda::add_parts, columns, cuda::kPartThreads, stream, launch);
  });
  return cuda::launch_status();
}

}  // namespace winnow::kernels
