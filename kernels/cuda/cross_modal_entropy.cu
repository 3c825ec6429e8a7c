// Launches of entropies over some columns: argument rules, element type, vector width, split.
#include "kernels/cuda/cross_modal_entropy.cuh"

#include <cuda_runtime_api.h>

#include "kernels/cuda/for_type.h"
#include "kernels/reference/check_cross_modal_entropy.h"

namespace winnow::kernels {

namespace {

template <class T, int kVector>
void launch_walks(const cuda::CrossModalLaunch& launch, cudaStream_t on) {
  const auto parts = static_cast<unsigned>(launch.parts);
  const dim3 items(static_cast<unsigned>(launch.tiles), static_cast<unsigned>(launch.kv_heads), parts);
  cuda::sum_rows<T, kVector><<<items, cuda::kLogitThreads, 0, on>>>(launch);
  const dim3 rows(static_cast<unsigned>((launch.rows + cuda::kJoinThreads - 1) / cuda::kJoinThreads),
                  static_cast<unsigned>(launch.kv_heads * launch.group));
  cuda::join_rows<<<rows, cuda::kJoinThreads, 0, on>>>(launch);
  cuda::add_entropies<T, kVector><<<dim3(static_cast<unsigned>(launch.row_tiles), parts), cuda::kLogitThreads, 0, on>>>(launch);
  cuda::add_tiles<<<1, cuda::kJoinThreads, 0, on>>>(launch);
}

}  // namespace

LaunchStatus cuda_cross_modal_entropy(const CudaCrossModalArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  if (args.rows == 0 || args.columns == 0) return LaunchStatus::kOk;
  const cuda::CrossModalLaunch launch = cuda::plan_launch(args);
  const auto on = static_cast<cudaStream_t>(stream);
  cuda::for_type(args.type, [&](auto element) {
    using T = decltype(element);
    if (cuda::reads_vectors<T>(args)) {
      launch_walks<T, cuda::kWidest<T>>(launch, on);
    } else {
      launch_walks<T, 1>(launch, on);
    }
  });
  return cudaGetLastError() == cudaSuccess ? LaunchStatus::kOk : LaunchStatus::kDeviceError;
}

}  // namespace winnow::kernels
