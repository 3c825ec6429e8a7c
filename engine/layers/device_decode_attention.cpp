#include "engine/layers/device_decode_attention.h"

#include <algorithm>
#include <vector>

#include "engine/base/error.h"
#include "engine/device/cuda_plugin.h"
#include "engine/kv_cache/element_type.h"

namespace winnow {
namespace {

struct Attended {
  at::Tensor output;
  at::Tensor probabilities;  // fp32 [kv_heads, group, longest head]; entries past a head's slots mean nothing
};

Attended attend(const at::Tensor& query, const KvShape& shape, const DeviceSlots& slots, double scale, bool probabilities) {
  require(query.device() == shape.device, "decode attention: query and cache lie on different devices");
  const std::int64_t group = query.size(0) / shape.kv_heads;
  const auto [shortest, longest] = std::minmax_element(slots.of_heads.begin(), slots.of_heads.end());
  require(*shortest > 0, "decode attention needs the token's own slot in every head");

  const at::Tensor typed = query.to(shape.dtype).contiguous();
  Attended result = {at::empty_like(typed), {}};
  kernels::CudaDecodeAttentionArgs args;
  args.parts = kernels::cuda_decode_parts(*longest + slots.most_further, shape.kv_heads, group, open_cuda().multiprocessors);
  const at::Tensor workspace =
      at::empty({kernels::cuda_decode_workspace(shape.kv_heads, group, shape.head_dim, args.parts)}, typed.options().dtype(at::kFloat));
  args.query = typed.const_data_ptr();
  args.output = result.output.data_ptr();
  args.type = element_type(shape.dtype);
  args.kv_heads = shape.kv_heads;
  args.group = group;
  args.head_dim = shape.head_dim;
  slots.pass_to(args);
  args.most_further = slots.most_further;
  args.scale = static_cast<float>(scale);
  args.workspace = workspace.data_ptr<float>();
  if (probabilities) {
    args.probability_stride = *longest + slots.most_further;
    result.probabilities = at::empty({shape.kv_heads, group, args.probability_stride}, workspace.options());
    args.probabilities = result.probabilities.data_ptr<float>();
  }
  require_launched(cuda_plugin().decode_attention(&args), "attention");
  result.output = result.output.to(query.scalar_type());
  return result;
}

}  // namespace

DeviceSlots device_slots(const KvCache& cache, LayerId layer) {
  DeviceSlots slots;
  slots.blocks = DeviceSide::blocks(cache, layer);
  for (KvHead head{0}; head < cache.shape().kv_heads; ++head) slots.of_heads.push_back(static_cast<std::int32_t>(cache.slots(layer, head)));
  return slots;
}

at::Tensor device_decode_attention(const at::Tensor& query, const KvShape& shape, const DeviceSlots& slots, double scale,
                                   DeviceProbabilities* probabilities) {
  const Attended attended = attend(query, shape, slots, scale, probabilities != nullptr);
  if (probabilities != nullptr) *probabilities = {attended.probabilities.mean(1), slots.of_heads};
  return attended.output;
}

}  // namespace winnow
