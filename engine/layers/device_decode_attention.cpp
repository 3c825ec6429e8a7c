#include "engine/layers/device_decode_attention.h"

#include <algorithm>
#include <bit>

#include "engine/base/error.h"
#include "engine/device/cuda_plugin.h"
#include "engine/kv_cache/element_type.h"
#include "engine/layers/for_heads.h"
#include "engine/layers/rotary.h"
#include "engine/layers/runtime_tokens.h"

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

// The tables that the heads of a layer share, as numbers that are on the host and on the device: [kv_heads, stride] slots, as many factors
// and, where keys are rotated, positions, and frequencies; behind them per head how many entries it has and how many slots they cover, the
// stride, and whether keys are rotated. A head's direct slots behind all that its table names need no entry.
class SharedTables {
 public:
  static std::vector<std::int32_t> made_of(const KvCache& cache, LayerId layer);

  SharedTables(const DeviceNumbers& numbers, std::int64_t kv_heads) : numbers_(numbers), heads_(static_cast<std::size_t>(kv_heads)) {}

  std::span<const std::int32_t> listed() const { return behind().subspan(0, heads_); }
  std::span<const std::int32_t> covered() const { return behind().subspan(heads_, heads_); }
  std::int64_t stride() const { return behind()[2 * heads_]; }
  bool rotated() const { return behind()[2 * heads_ + 1] != 0; }
  const std::int32_t* slots() const { return numbers_.there.const_data_ptr<std::int32_t>(); }
  const float* factors() const { return part(1); }
  const float* positions() const { return rotated() ? part(2) : nullptr; }
  const float* frequencies() const { return rotated() ? part(3) : nullptr; }

 private:
  std::span<const std::int32_t> behind() const { return numbers_.host.last(2 * heads_ + 2); }
  const float* part(std::int64_t number) const {
    return reinterpret_cast<const float*>(slots()) + number * static_cast<std::int64_t>(heads_) * stride();
  }

  DeviceNumbers numbers_;
  std::size_t heads_;
};

std::int32_t bits_of(float number) { return std::bit_cast<std::int32_t>(number); }

std::vector<std::int32_t> SharedTables::made_of(const KvCache& cache, LayerId layer) {
  const KvShape& shape = cache.shape();
  const auto heads = static_cast<std::size_t>(shape.kv_heads);
  std::vector<std::vector<std::int32_t>> direct(heads);
  std::vector<std::int32_t> listed(heads, 0);
  std::vector<std::int32_t> covered(heads, 0);
  const SharedEntries* const first = cache.shared_entries(layer, KvHead(0));
  const auto for_tables = [&](const auto& work) {
    for_heads(shape.kv_heads, first != nullptr ? std::ssize(first->slot) : 0, [&](std::int64_t head) {
      if (const SharedEntries* const table = cache.shared_entries(layer, KvHead(head)))
        work(KvHead(head), static_cast<std::size_t>(head), *table);
    });
  };
  for_tables([&](KvHead head, std::size_t at, const SharedEntries& table) {
    if (table.size() > 0) covered[at] = std::max(0, std::ranges::max(table.slot) + 1);
    direct[at] = direct_slots(cache, layer, head);
    const auto own = std::ranges::lower_bound(direct[at], covered[at]) - direct[at].begin();
    listed[at] = static_cast<std::int32_t>(std::ssize(table.original) + own);
  });
  const auto stride = static_cast<std::size_t>(std::max(1, std::ranges::max(listed)));
  bool rotated = false;
  for (KvHead head{0}; head < shape.kv_heads; ++head) {
    const SharedEntries* const table = cache.shared_entries(layer, head);
    rotated = rotated || (table != nullptr && table->rotation != SharedEntries::Rotation::kStored);
  }

  const std::size_t entries = heads * stride;
  std::vector<std::int32_t> words((rotated ? 3 : 2) * entries, 0);
  for_tables([&](KvHead head, std::size_t at, const SharedEntries& table) {
    std::int32_t* const slot = words.data() + at * stride;
    std::int32_t* const factor = slot + entries;
    const std::int32_t masked = table.zero_counts ? kernels::kZeroToken : kernels::kMaskedToken;
    for (std::size_t i = 0; i < table.size(); ++i) {
      const bool live = table.slot[i] != SharedEntries::kZero;
      slot[i] = live ? table.slot[i] : masked;
      factor[i] = live ? bits_of(table.norm[i]) : 0;
    }
    const auto own = static_cast<std::size_t>(listed[at]) - table.size();
    std::copy_n(direct[at].begin(), own, slot + table.size());
    std::fill_n(factor + table.size(), own, bits_of(1.0F));
    if (table.rotation == SharedEntries::Rotation::kStored) return;
    const std::vector<float> positions = table_positions(table, direct[at], cache.original(layer, head));
    std::ranges::transform(positions, slot + 2 * entries, bits_of);
  });
  if (rotated) {
    require_turn(shape.rotary);
    require(shape.rotary.axes() == 1, "shared slots: keys that are rotated have one axis");
    const at::Tensor frequencies = turn_frequencies(shape.head_dim, shape.rotary);
    for (std::int64_t i = 0; i < frequencies.numel(); ++i) words.push_back(bits_of(frequencies.const_data_ptr<float>()[i]));
  }
  words.insert(words.end(), listed.begin(), listed.end());
  words.insert(words.end(), covered.begin(), covered.end());
  words.push_back(static_cast<std::int32_t>(stride));
  words.push_back(rotated ? 1 : 0);
  return words;
}

}  // namespace

std::vector<std::vector<std::vector<float>>> on_host(std::span<const DeviceProbabilities> layers) {
  std::vector<std::vector<std::vector<float>>> rows;
  if (layers.empty()) return rows;
  std::vector<at::Tensor> flat;
  for (const DeviceProbabilities& layer : layers) flat.push_back(layer.numbers.flatten());
  const at::Tensor host = (flat.size() == 1 ? flat.front() : at::cat(flat)).to(at::kCPU).contiguous();
  const float* numbers = host.const_data_ptr<float>();
  for (const DeviceProbabilities& layer : layers) {
    std::vector<std::vector<float>>& row = rows.emplace_back();
    for (const std::int32_t count : layer.counts) {
      row.emplace_back(numbers, numbers + count);
      numbers += layer.numbers.size(1);
    }
  }
  return rows;
}

DeviceSlots device_slots(const KvCache& cache, LayerId layer) {
  DeviceSlots slots{.blocks = DeviceSide::blocks(cache, layer)};
  for (KvHead head{0}; head < cache.shape().kv_heads; ++head) slots.of_heads.push_back(static_cast<std::int32_t>(cache.slots(layer, head)));
  return slots;
}

at::Tensor device_decode_attention(const at::Tensor& query, const KvShape& shape, const DeviceSlots& slots, double scale,
                                   DeviceProbabilities* probabilities) {
  const Attended attended = attend(query, shape, slots, scale, probabilities != nullptr);
  if (probabilities != nullptr) *probabilities = {attended.probabilities.mean(1), slots.of_heads};
  return attended.output;
}

at::Tensor device_shared_attention(const at::Tensor& query, const KvCache& cache, LayerId layer, double scale,
                                   DeviceProbabilities* probabilities) {
  const KvShape& shape = cache.shape();
  require(query.device() == shape.device, "decode attention: query and cache lie on different devices");
  const SharedTables tables(DeviceSide::numbers(cache, layer, [&] { return SharedTables::made_of(cache, layer); }), shape.kv_heads);
  std::vector<std::int32_t> slots;
  for (KvHead head{0}; head < shape.kv_heads; ++head) slots.push_back(static_cast<std::int32_t>(cache.slots(layer, head)));
  const at::Tensor typed = query.to(shape.dtype).contiguous();
  const at::Tensor output = at::empty_like(typed);
  const DeviceBlocks blocks = DeviceSide::blocks(cache, layer);

  kernels::CudaSharedAttentionArgs args;
  args.query = typed.const_data_ptr();
  args.output = output.data_ptr();
  args.type = element_type(shape.dtype);
  args.kv_heads = shape.kv_heads;
  args.group = query.size(0) / shape.kv_heads;
  args.head_dim = shape.head_dim;
  blocks.pass_to(args);
  args.slots = slots.data();
  args.listed = tables.listed().data();
  args.covered = tables.covered().data();
  args.entry_stride = tables.stride();
  args.entry_slot = tables.slots();
  args.entry_factor = tables.factors();
  args.entry_position = tables.positions();
  args.frequencies = tables.frequencies();
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
