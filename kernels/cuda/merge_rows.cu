// Merged rows: device code and launch. Tests run both on CPU threads, too (tests/kernels/cuda_on_cpu.h).
//
// One thread block per kept row, a thread per element: adjacent threads read adjacent elements of every merged row. No atomics: a row's
// merges are added in order.
#include <cstdint>

#include "kernels/api/cuda_merge_rows.h"
#include "kernels/cuda/launch.h"
#include "kernels/reference/check_slots.h"

namespace winnow::kernels::cuda {

constexpr int kMergeThreads = 128;

static __global__ void __launch_bounds__(kMergeThreads) merge_rows(CudaMergeRowsArgs args) {
  const std::int64_t row = blockIdx.x;
  const float own = args.own[row];
  const float divisor = args.divisor[row];
  const int begin = args.begin[row];
  const int end = args.begin[row + 1];
  for (std::int64_t i = threadIdx.x; i < args.width; i += kMergeThreads) {
    float sum = __fmul_rn(own, args.rows[args.stay[row] * args.row_stride + i]);
#pragma unroll 4
    for (int flow = begin; flow < end; ++flow) {
      sum = __fadd_rn(sum, __fmul_rn(args.weight[flow], args.rows[args.from[flow] * args.row_stride + i]));
    }
    args.output[row * args.width + i] = sum / divisor;
  }
}

}  // namespace winnow::kernels::cuda

namespace winnow::kernels {

LaunchStatus cuda_merge_rows(const CudaMergeRowsArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  if (args.count == 0) return LaunchStatus::kOk;
  cuda::launch_kernel(cuda::merge_rows, static_cast<unsigned>(args.count), cuda::kMergeThreads, stream, args);
  return cuda::launch_status();
}

}  // namespace winnow::kernels
