#include "engine/layers/rotate_append.h"

#include "engine/base/error.h"
#include "engine/device/cuda_plugin.h"
#include "engine/kv_cache/element_type.h"

namespace winnow {

at::Tensor rotate_append(const at::Tensor& qkv, const RotaryAngles& angles, const KvShape& shape, const DeviceSlots& slots) {
  const std::int64_t heads = qkv.size(1) - 2 * shape.kv_heads;
  require(qkv.size(0) == 1 && qkv.is_contiguous() && heads > 0 && qkv.size(2) == shape.head_dim && qkv.scalar_type() == shape.dtype &&
              angles.cosine.scalar_type() == shape.dtype && angles.cosine.numel() == shape.head_dim / 2 &&
              angles.sine.numel() == shape.head_dim / 2 && angles.cosine.is_contiguous() && angles.sine.is_contiguous(),
          "a token's rows and the angles of its position, in the cache's type");
  at::Tensor queries = at::empty({heads, shape.head_dim}, qkv.options());
  kernels::CudaRotateAppendArgs args;
  args.type = element_type(shape.dtype);
  args.heads = heads;
  args.kv_heads = shape.kv_heads;
  args.half = shape.head_dim / 2;
  args.input = qkv.const_data_ptr();
  args.cosine = angles.cosine.const_data_ptr();
  args.sine = angles.sine.const_data_ptr();
  args.queries = queries.mutable_data_ptr();
  slots.pass_to(args);
  require_launched(cuda_plugin().rotate_append(&args), "rotary positions and the cache");
  return queries;
}

}  // namespace winnow
