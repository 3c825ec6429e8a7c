// The definition of correct, on host pointers: element by element, summed in double.
#include "kernels/api/cuda_row_product.h"

#include "kernels/reference/check_cuda_row_product.h"
#include "kernels/reference/element.h"

namespace winnow::kernels {

LaunchStatus cuda_row_product_reference(const CudaRowProductArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  for (std::int64_t row = 0; row < args.rows; ++row) {
    double sum = args.bias != nullptr ? element(args.bias, args.type, row) : 0.0;
    for (std::int64_t i = 0; i < args.columns; ++i)
      sum += element(args.matrix, args.type, row * args.columns + i) * element(args.input, args.type, i);
    set_element(args.output, args.output_type, row, static_cast<float>(sum));
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
