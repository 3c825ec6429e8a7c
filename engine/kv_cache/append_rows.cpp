#include "engine/device/cuda_plugin.h"
#include "engine/kv_cache/kv_cache.h"

namespace winnow {

void append_rows(const KvShape& shape, const DeviceSlots& slots, const at::Tensor& key, const at::Tensor& value) {
  const at::Tensor keys = key.stride(2) == 1 ? key : key.contiguous();
  const at::Tensor values = value.stride(2) == 1 ? value : value.contiguous();
  kernels::AppendSlotsArgs args;
  args.key = keys.const_data_ptr();
  args.value = values.const_data_ptr();
  args.key_head_stride = keys.stride(0);
  args.key_token_stride = keys.stride(1);
  args.value_head_stride = values.stride(0);
  args.value_token_stride = values.stride(1);
  args.element_bytes = static_cast<std::int64_t>(at::elementSize(shape.dtype));
  args.kv_heads = shape.kv_heads;
  args.tokens = key.size(1);
  args.head_dim = shape.head_dim;
  slots.pass_to(args);
  require_launched(cuda_plugin().append_slots(&args), "writing keys and values to the cache");
}

}  // namespace winnow
