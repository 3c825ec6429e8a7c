// The launch of merged rows.
#include "kernels/cuda/merge_rows.cuh"

#include "kernels/cuda/launch.h"
#include "kernels/reference/check_merging.h"

namespace winnow::kernels {

LaunchStatus cuda_merge_rows(const CudaMergeRowsArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  if (args.count == 0) return LaunchStatus::kOk;
  cuda::launch_kernel(cuda::merge_rows, static_cast<unsigned>(args.count), cuda::kMergeThreads, stream, args);
  return cuda::launch_status();
}

}  // namespace winnow::kernels
