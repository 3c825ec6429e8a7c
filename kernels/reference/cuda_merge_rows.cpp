// The definition of correct: element by element, each operation rounded to fp32.
#include "kernels/api/cuda_merge_rows.h"
#include "kernels/reference/check_merging.h"

namespace winnow::kernels {

LaunchStatus cuda_merge_rows_reference(const CudaMergeRowsArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  for (std::int64_t row = 0; row < args.count; ++row) {
    for (std::int64_t i = 0; i < args.width; ++i) {
      float sum = args.own[row] * args.rows[args.stay[row] * args.row_stride + i];
      for (std::int64_t flow = args.begin[row]; flow < args.begin[row + 1]; ++flow) {
        const float part = args.weight[flow] * args.rows[args.from[flow] * args.row_stride + i];
        sum += part;
      }
      args.output[row * args.width + i] = sum / args.divisor[row];
    }
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
