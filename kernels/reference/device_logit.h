// One logit of CudaLogits in double. All pointers host memory. Used by kernels/reference and tests.
#pragma once

#include "kernels/api/cuda_logits.h"
#include "kernels/reference/element.h"

namespace winnow::kernels {

inline double device_logit(const CudaLogits& logits, std::int64_t head, std::int64_t row, std::int64_t column) {
  double product = 0.0;
  for (std::int64_t i = 0; i < logits.head_dim; ++i) {
    product += element(logits.query, logits.type, head * logits.query_head_stride + row * logits.query_row_stride + i) *
               element(logits.key, logits.type, head / logits.group * logits.key_head_stride + column * logits.key_row_stride + i);
  }
  return product * static_cast<double>(logits.scale);
}

}  // namespace winnow::kernels
