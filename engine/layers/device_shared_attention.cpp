#include "engine/layers/device_shared_attention.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "engine/base/error.h"
#include "engine/device/cuda_plugin.h"
#include "engine/kv_cache/element_type.h"
#include "engine/layers/rotary.h"
#include "engine/layers/runtime_tokens.h"

namespace winnow {
namespace {

// What the heads of a layer share. A head's direct slots behind all that its table names need no entry.
struct SharedTables {
  std::vector<std::int32_t> slots, listed, covered;  // per kv head, as the kernel's arguments
  std::int64_t stride = 1;
  bool turned = false;
  std::vector<std::int32_t> words;  // [kv_heads, stride] slots, as many factors and, where keys are turned, positions; frequencies
};

std::int32_t bits_of(float number) { return std::bit_cast<std::int32_t>(number); }

SharedTables tables_of(const KvCache& cache, LayerId layer) {
  const KvShape& shape = cache.shape();
  SharedTables tables;
  std::vector<RuntimeTokens> heads;
  for (KvHead head{0}; head < shape.kv_heads; ++head) {
    heads.push_back(runtime_tokens(cache, layer, head));
    const SharedEntries* const entries = cache.shared_entries(layer, head);
    std::int32_t covered = 0;
    if (entries != nullptr && entries->size() > 0) covered = std::max(0, *std::ranges::max_element(entries->slot) + 1);
    const auto slots = static_cast<std::int32_t>(cache.slots(layer, head));
    tables.slots.push_back(slots);
    tables.covered.push_back(covered);
    tables.listed.push_back(static_cast<std::int32_t>(heads.back().size()) - (slots - covered));
    tables.stride = std::max<std::int64_t>(tables.stride, tables.listed.back());
    tables.turned = tables.turned || heads.back().turned;
  }
  const std::int64_t entries = shape.kv_heads * tables.stride;
  tables.words.resize(static_cast<std::size_t>((tables.turned ? 3 : 2) * entries), 0);
  for (std::size_t head = 0; head < heads.size(); ++head) {
    const RuntimeTokens& tokens = heads[head];
    for (std::size_t i = 0; i < static_cast<std::size_t>(tables.listed[head]); ++i) {
      const std::size_t at = head * static_cast<std::size_t>(tables.stride) + i;
      const std::int32_t masked = tokens.bias[i] == 0.0F ? kernels::kZeroToken : kernels::kMaskedToken;
      tables.words[at] = tokens.weight[i] == 0.0F ? masked : static_cast<std::int32_t>(tokens.slot[i]);
      tables.words[at + static_cast<std::size_t>(entries)] = bits_of(tokens.factor[i]);
      if (tokens.turned) tables.words[at + static_cast<std::size_t>(2 * entries)] = bits_of(tokens.position[i]);
    }
  }
  if (!tables.turned) return tables;
  require_turn(shape.rotary);
  require(shape.rotary.axes() == 1, "shared slots: keys that are turned have one axis");
  const at::Tensor frequencies = turn_frequencies(shape.head_dim, shape.rotary);
  for (std::int64_t i = 0; i < frequencies.numel(); ++i) tables.words.push_back(bits_of(frequencies.const_data_ptr<float>()[i]));
  return tables;
}

}  // namespace

at::Tensor device_shared_attention(const at::Tensor& query, const KvCache& cache, LayerId layer, double scale,
                                   DeviceProbabilities* probabilities) {
  const KvShape& shape = cache.shape();
  require(query.device() == shape.device, "decode attention: query and cache lie on different devices");
  SharedTables tables = tables_of(cache, layer);
  const at::Tensor words = device_numbers(cache, layer, std::move(tables.words));
  const at::Tensor typed = query.to(shape.dtype).contiguous();
  const at::Tensor output = at::empty_like(typed);
  const DeviceBlocks blocks = cache.device_blocks(layer);

  kernels::CudaSharedAttentionArgs args;
  args.query = typed.const_data_ptr();
  args.output = output.data_ptr();
  args.type = element_type(shape.dtype);
  args.kv_heads = shape.kv_heads;
  args.group = query.size(0) / shape.kv_heads;
  args.head_dim = shape.head_dim;
  args.key_blocks = blocks.key_blocks;
  args.value_blocks = blocks.value_blocks;
  args.table_stride = blocks.stride;
  args.block_slots = KvCache::kBlockSlots;
  args.slots = tables.slots.data();
  args.listed = tables.listed.data();
  args.covered = tables.covered.data();
  const std::int64_t entries = shape.kv_heads * tables.stride;
  args.entry_stride = tables.stride;
  args.entry_slot = words.const_data_ptr<std::int32_t>();
  const auto* const numbers = reinterpret_cast<const float*>(args.entry_slot);
  args.entry_factor = numbers + entries;
  if (tables.turned) {
    args.entry_position = numbers + 2 * entries;
    args.frequencies = numbers + 3 * entries;
  }
  args.scale = static_cast<float>(scale);
  const std::int64_t longest = kernels::longest_shared_head(args);
  args.parts = kernels::cuda_decode_parts(longest, args.kv_heads, args.group, open_cuda().multiprocessors);
  const auto fp32 = typed.options().dtype(at::kFloat);
  const at::Tensor attention = probabilities != nullptr ? at::empty({shape.kv_heads, longest}, fp32) : at::Tensor();
  if (probabilities != nullptr) {
    args.probabilities = attention.data_ptr<float>();
    args.probability_stride = longest;
  }
  const at::Tensor workspace = at::empty({kernels::cuda_shared_attention_workspace(args)}, fp32);
  args.workspace = workspace.data_ptr<float>();
  require_launched(cuda_plugin().shared_attention(&args), "attention over shared slots");
  if (probabilities != nullptr) {
    *probabilities = {attention, {}};
    for (KvHead head{0}; head < shape.kv_heads; ++head)
      probabilities->counts.push_back(static_cast<std::int32_t>(shared_tokens(args, head)));
  }
  return output.to(query.scalar_type());
}

}  // namespace winnow
