// The definition of correct: element by element, summed in double.
#include "kernels/api/dense_gemv.h"

#include "kernels/reference/check_dense_gemv.h"
#include "kernels/reference/element.h"

namespace winnow::kernels {

LaunchStatus dense_gemv_reference(const DenseGemvArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  for (std::int64_t row = args.begin; row < args.end; ++row) {
    double sum = args.added != nullptr ? static_cast<double>(args.added[row]) : 0.0;
    for (std::int64_t i = 0; i < args.columns; ++i)
      sum += element(args.matrix, args.type, row * args.columns + i) * static_cast<double>(args.input[i]);
    args.output[row] = static_cast<float>(sum);
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
