// Launches of entropies over some columns: argument rules, element type, vector width, split.
#include "kernels/cuda/cross_modal_entropy.cuh"

#include "kernels/cuda/for_type.h"
#include "kernels/cuda/launch.h"
#include "kernels/reference/check_cross_modal_entropy.h"

namespace winnow::kernels {

namespace {

template <class T, int kVector>
void launch_walks(const cuda::CrossModalLaunch& launch, void* stream) {
  const auto parts = static_cast<unsigned>(launch.parts);
  const cuda::Grid items(static_cast<unsigned>(launch.tiles), static_cast<unsigned>(launch.kv_heads), parts);
  cuda::launch_kernel(cuda::sum_rows<T, kVector>, items, cuda::kLogitThreads, stream, launch);
  const cuda::Grid rows(static_cast<unsigned>((launch.rows + cuda::kJoinThreads - 1) / cuda::kJoinThreads),
                        static_cast<unsigned>(launch.kv_heads * launch.group));
  cuda::launch_kernel(cuda::join_rows, rows, cuda::kJoinThreads, stream, launch);
  cuda::launch_kernel(cuda::add_entropies<T, kVector>, cuda::Grid(static_cast<unsigned>(launch.row_tiles), parts), cuda::kLogitThreads,
                      stream, launch);
  cuda::launch_kernel(cuda::add_tiles, 1, cuda::kJoinThreads, stream, launch);
}

}  // namespace

LaunchStatus cuda_cross_modal_entropy(const CudaCrossModalArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  if (args.rows == 0 || args.columns == 0) return LaunchStatus::kOk;
  const cuda::CrossModalLaunch launch = cuda::plan_launch(args);
  cuda::for_type(args.type, [&](auto element) {
    using T = decltype(element);
    if (cuda::reads_vectors<T>(args)) {
      launch_walks<T, cuda::kWidest<T>>(launch, stream);
    } else {
      launch_walks<T, 1>(launch, stream);
    }
  });
  return cuda::launch_status();
}

}  // namespace winnow::kernels
