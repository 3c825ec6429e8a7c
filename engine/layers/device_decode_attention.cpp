#include "engine/layers/device_decode_attention.h"

#include <algorithm>
#include <vector>

#include "engine/base/error.h"
#include "engine/device/cuda_plugin.h"
#include "engine/kv_cache/element_type.h"

namespace winnow {

at::Tensor device_decode_attention(const at::Tensor& query, const KvCache& cache, LayerId layer, double scale,
                                   std::vector<std::vector<float>>* probabilities) {
  const KvShape& shape = cache.shape();
  require(query.device() == shape.device, "decode attention: query and cache lie on different devices");
  const std::int64_t group = query.size(0) / shape.kv_heads;
  std::vector<std::int32_t> slots;
  for (KvHead head{0}; head < shape.kv_heads; ++head) slots.push_back(static_cast<std::int32_t>(cache.slots(layer, head)));
  const std::int32_t longest = *std::max_element(slots.begin(), slots.end());
  require(*std::min_element(slots.begin(), slots.end()) > 0, "decode attention needs the token's own slot in every head");

  const at::Tensor typed = query.to(shape.dtype).contiguous();
  const at::Tensor output = at::empty_like(typed);
  const DeviceBlocks blocks = cache.device_blocks(layer);
  kernels::CudaDecodeAttentionArgs args;
  args.parts = kernels::cuda_decode_parts(longest, shape.kv_heads, group, open_cuda().multiprocessors);
  const at::Tensor workspace =
      at::empty({kernels::cuda_decode_workspace(shape.kv_heads, group, shape.head_dim, args.parts)}, typed.options().dtype(at::kFloat));
  args.query = typed.const_data_ptr();
  args.output = output.data_ptr();
  args.type = element_type(shape.dtype);
  args.kv_heads = shape.kv_heads;
  args.group = group;
  args.head_dim = shape.head_dim;
  args.key_blocks = blocks.key_blocks;
  args.value_blocks = blocks.value_blocks;
  args.table_stride = blocks.stride;
  args.slots = slots.data();
  args.block_slots = KvCache::kBlockSlots;
  args.scale = static_cast<float>(scale);
  args.workspace = workspace.data_ptr<float>();
  at::Tensor attention;  // entries past a head's slots stay as they are
  if (probabilities != nullptr) {
    attention = at::zeros({shape.kv_heads, group, longest}, workspace.options());
    args.probabilities = attention.data_ptr<float>();
    args.probability_stride = longest;
  }
  require_launched(cuda_plugin().decode_attention(&args), "attention");
  if (probabilities != nullptr) {
    const at::Tensor mean = attention.mean(1).to(at::kCPU).contiguous();
    const float* row = mean.const_data_ptr<float>();
    probabilities->clear();
    for (const std::int32_t count : slots) {
      probabilities->emplace_back(row, row + count);
      row += longest;
    }
  }
  return output.to(query.scalar_type());
}

}  // namespace winnow
