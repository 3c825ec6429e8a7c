#include "engine/compression/statistics/device_logits.h"

#include "engine/kv_cache/element_type.h"

namespace winnow {

bool fits_kernels(const LayerView& view) {
  const bool fits_device =
      view.query.is_cpu() || (view.query.is_cuda() && view.query.size(0) + view.key.size(0) <= kernels::kMaxCudaGridSide);
  return fits_device && view.key.scalar_type() == view.query.scalar_type() && find_element_type(view.query.scalar_type()) &&
         view.query.size(2) <= kernels::kMaxHeadDim && view.query.size(0) / view.key.size(0) <= kernels::kMaxGroup;
}

at::Tensor with_packed_rows(const at::Tensor& tensor) { return tensor.stride(-1) == 1 ? tensor : tensor.contiguous(); }

void set_logits(kernels::CudaLogits& to, const at::Tensor& query, const at::Tensor& key, double scale) {
  to.type = element_type(key.scalar_type());
  to.query = query.const_data_ptr();
  to.query_head_stride = query.stride(0);
  to.query_row_stride = query.stride(1);
  to.kv_heads = key.size(0);
  to.group = query.size(0) / key.size(0);
  to.rows = query.size(1);
  to.key = key.const_data_ptr();
  to.key_head_stride = key.stride(0);
  to.key_row_stride = key.stride(1);
  to.columns = key.size(1);
  to.head_dim = key.size(2);
  to.scale = static_cast<float>(scale);
}

}  // namespace winnow
