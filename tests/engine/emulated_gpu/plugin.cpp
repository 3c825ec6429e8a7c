// The emulated device's table of kernels: the references, over the device's memory.
#include <torch/headeronly/version.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "engine/device/cuda_plugin_abi.h"
#include "kernels/reference/check_attention.h"
#include "kernels/reference/half.h"
#include "tests/engine/emulated_gpu/device_fault.h"
#include "tests/engine/emulated_gpu/device_memory.h"

namespace winnow::emulated_gpu {
namespace {

using kernels::ElementType;
using kernels::LaunchStatus;

int start(CudaDeviceRecord* device, char* /*reason*/, std::size_t /*reason_bytes*/) {
  std::snprintf(device->name, sizeof device->name, "emulated GPU");
  device->total_bytes = all_bytes();
  device->free_bytes = free_bytes();
  device->compute_major = 9;
  device->compute_minor = 0;
  device->multiprocessors = 4;
  return 0;
}

// Pointers in the device's memory, to blocks there.
template <class Pointer>
std::vector<Pointer> blocks_behind(Pointer const* table, std::int64_t entries) {
  const auto* const there = static_cast<Pointer const*>(behind(table));
  std::vector<Pointer> blocks;
  for (std::int64_t i = 0; i < entries; ++i) blocks.push_back(behind(there[i]));
  return blocks;
}

// Each in place of the device's own.
template <class... Pointed>
void take_behind(Pointed*&... pointers) {
  ((pointers = static_cast<Pointed*>(behind(pointers))), ...);
}

int launched(LaunchStatus status, int launches = 1) {
  counts().launches += launches;
  return static_cast<int>(status);
}

float upcast(const void* from, ElementType type, std::int64_t index) {
  if (type == ElementType::kFp32) return static_cast<const float*>(from)[index];
  const std::uint16_t narrow = static_cast<const std::uint16_t*>(from)[index];
  return type == ElementType::kBf16 ? kernels::bf16_to_float(narrow) : kernels::fp16_to_float(narrow);
}

void store(void* to, ElementType type, std::int64_t index, float value) {
  if (type == ElementType::kFp32) {
    static_cast<float*>(to)[index] = value;
  } else {
    static_cast<std::uint16_t*>(to)[index] = type == ElementType::kBf16 ? kernels::float_to_bf16(value) : kernels::float_to_fp16(value);
  }
}

int decode_attention(const kernels::CudaDecodeAttentionArgs* args) {
  ++counts().launches;
  if (const LaunchStatus fit = kernels::check_arguments(*args); fit != LaunchStatus::kOk) return static_cast<int>(fit);
  const std::vector<const void*> keys = blocks_behind<const void*>(args->key_blocks, args->kv_heads * args->table_stride);
  const std::vector<const void*> values = blocks_behind<const void*>(args->value_blocks, args->kv_heads * args->table_stride);
  const void* const query = behind(args->query);
  void* const output = behind(args->output);
  auto* const probabilities = static_cast<float*>(behind(args->probabilities));
  const auto* const further = static_cast<const std::int32_t*>(behind(args->further));
  const std::int64_t elements = args->group * args->head_dim;
  std::vector<float> asked(static_cast<std::size_t>(elements));
  std::vector<float> answered(static_cast<std::size_t>(elements));
  std::vector<float> workspace(static_cast<std::size_t>(args->group * args->block_slots));
  for (std::int64_t head = 0; head < args->kv_heads; ++head) {
    for (std::int64_t i = 0; i < elements; ++i) asked[static_cast<std::size_t>(i)] = upcast(query, args->type, head * elements + i);
    const std::int64_t slots = args->slots[head] + (further != nullptr ? *further : 0);
    std::vector<float> rows(static_cast<std::size_t>(args->group * slots));
    kernels::DecodeAttentionArgs one;
    one.query = asked.data();
    one.group = args->group;
    one.head_dim = args->head_dim;
    one.kv_type = args->type;
    one.key_blocks = keys.data() + head * args->table_stride;
    one.value_blocks = values.data() + head * args->table_stride;
    one.slots = slots;
    one.block_slots = args->block_slots;
    one.scale = args->scale;
    one.output = answered.data();
    one.probabilities = rows.data();
    one.workspace = workspace.data();
    if (const LaunchStatus status = kernels::decode_attention_reference(one); status != LaunchStatus::kOk) return static_cast<int>(status);
    for (std::int64_t i = 0; i < elements; ++i) store(output, args->type, head * elements + i, answered[static_cast<std::size_t>(i)]);
    for (std::int64_t asking = 0; probabilities != nullptr && asking < args->group; ++asking) {
      std::memcpy(probabilities + (head * args->group + asking) * args->probability_stride, rows.data() + asking * slots,
                  static_cast<std::size_t>(slots) * sizeof(float));
    }
  }
  return 0;
}

int append_slots(const kernels::AppendSlotsArgs* args) {
  ++counts().launches;
  const std::vector<void*> keys = blocks_behind<void*>(args->key_blocks, args->kv_heads * args->table_stride);
  const std::vector<void*> values = blocks_behind<void*>(args->value_blocks, args->kv_heads * args->table_stride);
  kernels::AppendSlotsArgs here = *args;
  take_behind(here.key, here.value);
  here.key_blocks = keys.data();
  here.value_blocks = values.data();
  take_behind(here.further);
  return static_cast<int>(kernels::append_slots_reference(here));
}

int block_gemv(const kernels::CudaBlockGemvArgs* args) {
  kernels::CudaBlockGemvArgs here = *args;
  take_behind(here.matrix, here.row_of, here.input, here.output);
  return launched(kernels::cuda_block_gemv_reference(here));
}

int dequantise_rows(const kernels::CudaDequantiseRowsArgs* args) {
  kernels::CudaDequantiseRowsArgs here = *args;
  take_behind(here.matrix, here.row_of, here.column_of, here.ids, here.output);
  return launched(kernels::cuda_dequantise_rows_reference(here));
}

int gated_activation(const kernels::GatedActivationArgs* args) {
  kernels::GatedActivationArgs here = *args;
  take_behind(here.gate, here.up, here.output);
  return launched(kernels::gated_activation_reference(here));
}

int rms_norm(const kernels::RmsNormArgs* args) {
  kernels::RmsNormArgs here = *args;
  take_behind(here.input, here.weight, here.output, here.added, here.sum);
  return launched(kernels::rms_norm_reference(here));
}

int rotary(const kernels::RotaryArgs* args) {
  kernels::RotaryArgs here = *args;
  take_behind(here.input, here.cosine, here.sine, here.output);
  return launched(kernels::rotary_reference(here));
}

int sample_token(const kernels::SampleTokenArgs* args) {
  kernels::SampleTokenArgs here = *args;
  take_behind(here.logits, here.seen, here.fresh, here.workspace, here.choice);
  return launched(kernels::sample_token_reference(here), kernels::choice_launches(*args));
}

int gather_slots(const kernels::GatherSlotsArgs* args) {
  ++counts().launches;
  const std::vector<const void*> from_keys = blocks_behind<const void*>(args->from_key_blocks, args->kv_heads * args->from_stride);
  const std::vector<const void*> from_values = blocks_behind<const void*>(args->from_value_blocks, args->kv_heads * args->from_stride);
  const std::vector<void*> to_keys = blocks_behind<void*>(args->to_key_blocks, args->kv_heads * args->to_stride);
  const std::vector<void*> to_values = blocks_behind<void*>(args->to_value_blocks, args->kv_heads * args->to_stride);
  kernels::GatherSlotsArgs here = *args;
  here.from_key_blocks = from_keys.data();
  here.from_value_blocks = from_values.data();
  here.to_key_blocks = to_keys.data();
  here.to_value_blocks = to_values.data();
  take_behind(here.sources);
  return static_cast<int>(kernels::gather_slots_reference(here));
}

int column_sums(const kernels::CudaColumnSumsArgs* args) {
  kernels::CudaColumnSumsArgs here = *args;
  take_behind(here.query, here.key, here.log_sum_exp, here.sums, here.squares, here.entropy, here.workspace);
  return launched(kernels::cuda_column_sums_reference(here), 2);
}

int row_maxima(const kernels::CudaRowMaximaArgs* args) {
  kernels::CudaRowMaximaArgs here = *args;
  take_behind(here.query, here.key, here.seen, here.maxima);
  return launched(kernels::cuda_row_maxima_reference(here));
}

int count_below(const kernels::CudaCountBelowArgs* args) {
  kernels::CudaCountBelowArgs here = *args;
  take_behind(here.query, here.key, here.seen, here.maxima, here.counts);
  return launched(kernels::cuda_count_below_reference(here));
}

int cross_modal_entropy(const kernels::CudaCrossModalArgs* args) {
  kernels::CudaCrossModalArgs here = *args;
  take_behind(here.query, here.key, here.seen, here.row_of, here.column_of, here.entropy, here.workspace);
  return launched(kernels::cuda_cross_modal_entropy_reference(here), 4);
}

int shared_attention(const kernels::CudaSharedAttentionArgs* args) {
  counts().launches += args->parts == 1 && args->probabilities == nullptr ? 1 : 2;
  if (const LaunchStatus fit = kernels::check_arguments(*args); fit != LaunchStatus::kOk) return static_cast<int>(fit);
  const std::vector<const void*> keys = blocks_behind<const void*>(args->key_blocks, args->kv_heads * args->table_stride);
  const std::vector<const void*> values = blocks_behind<const void*>(args->value_blocks, args->kv_heads * args->table_stride);
  kernels::CudaSharedAttentionArgs here = *args;
  take_behind(here.query, here.output);
  here.key_blocks = keys.data();
  here.value_blocks = values.data();
  take_behind(here.entry_slot, here.entry_factor, here.entry_position, here.frequencies, here.log_sum_exp, here.probabilities);
  return static_cast<int>(kernels::cuda_shared_attention_reference(here));
}

int nearest_rows(const kernels::CudaNearestRowsArgs* args) {
  kernels::CudaNearestRowsArgs here = *args;
  take_behind(here.first, here.second, here.asking, here.among, here.similarity, here.nearest);
  return launched(kernels::cuda_nearest_rows_reference(here), 3);
}

int merge_rows(const kernels::CudaMergeRowsArgs* args) {
  kernels::CudaMergeRowsArgs here = *args;
  take_behind(here.rows, here.stay, here.own, here.divisor, here.begin, here.from, here.weight, here.output);
  return launched(kernels::cuda_merge_rows_reference(here));
}

int gemv(const kernels::CudaGemvArgs* args) {
  kernels::CudaGemvArgs here = *args;
  take_behind(here.matrix, here.input, here.bias, here.output);
  return launched(kernels::cuda_gemv_reference(here));
}

int change_slots(const kernels::CudaChangeSlotsArgs* args) {
  kernels::CudaChangeSlotsArgs here = *args;
  take_behind(here.begin);
  const auto* const first = static_cast<const kernels::SlotChange*>(behind(args->changes));
  std::vector<kernels::SlotChange> changes(first, first + here.begin[here.lists]);
  for (kernels::SlotChange& change : changes) take_behind(change.from_key, change.from_value, change.to_key, change.to_value);
  here.changes = changes.data();
  return launched(kernels::cuda_change_slots_reference(here));
}

int nearest_slots(const kernels::CudaNearestSlotsArgs* args) {
  kernels::CudaNearestSlotsArgs here = *args;
  const auto* const first = static_cast<const kernels::SimilarAsked*>(behind(args->asked));
  std::vector<kernels::SimilarAsked> asked(first, first + here.count);
  std::vector<std::vector<const void*>> blocks;
  for (kernels::SimilarAsked& one : asked) {
    for (const void* const** part : {&one.key_blocks, &one.value_blocks}) {
      if (*part == nullptr) continue;
      blocks.push_back(blocks_behind<const void*>(*part, (one.slots - 1) / here.block_slots + 1));
      *part = blocks.back().data();
    }
    one.among = static_cast<const std::uint32_t*>(behind(one.among));
  }
  here.asked = asked.data();
  take_behind(here.found);
  return launched(kernels::cuda_nearest_slots_reference(here));
}

int unit_keys(const kernels::CudaUnitKeysArgs* args) {
  kernels::CudaUnitKeysArgs here = *args;
  const auto* const first = static_cast<const kernels::UnitKey*>(behind(args->keys));
  std::vector<kernels::UnitKey> keys(first, first + here.count);
  for (kernels::UnitKey& one : keys) one.key = behind(one.key);
  here.keys = keys.data();
  take_behind(here.frequencies, here.lengths);
  return launched(kernels::cuda_unit_keys_reference(here));
}

int rotate_append(const kernels::CudaRotateAppendArgs* args) {
  ++counts().launches;
  const std::vector<void*> keys = blocks_behind<void*>(args->key_blocks, args->kv_heads * args->table_stride);
  const std::vector<void*> values = blocks_behind<void*>(args->value_blocks, args->kv_heads * args->table_stride);
  kernels::CudaRotateAppendArgs here = *args;
  take_behind(here.input, here.cosine, here.sine, here.queries, here.further);
  here.key_blocks = keys.data();
  here.value_blocks = values.data();
  return static_cast<int>(kernels::cuda_rotate_append_reference(here));
}

// Nothing is recorded: the body runs again.
struct Recording {
  int (*body)(void* context);
  void* context;
};

int record(int (*body)(void* context), void* context, void** recording, char* /*reason*/, std::size_t /*reason_bytes*/) {
  ++counts().recordings;
  *recording = new Recording{body, context};
  return 0;
}

int replay(void* recording) {
  ++counts().replays;
  const auto& recorded = *static_cast<const Recording*>(recording);
  return recorded.body(recorded.context) == 0 ? 0 : static_cast<int>(LaunchStatus::kDeviceError);
}

void forget(void* recording) { delete static_cast<Recording*>(recording); }

int synchronize(char* reason, std::size_t reason_bytes) {
  ++counts().waits;
  if (fault() == nullptr) return 0;
  std::snprintf(reason, reason_bytes, "%s", fault());
  return 1;
}

constexpr CudaPluginTable kTable = {
    .abi = kCudaPluginAbi,
    .torch_version = TORCH_VERSION,
    .start = start,
    .decode_attention = decode_attention,
    .append_slots = append_slots,
    .synchronize = synchronize,
    .block_gemv = block_gemv,
    .dequantise_rows = dequantise_rows,
    .gated_activation = gated_activation,
    .rms_norm = rms_norm,
    .rotary = rotary,
    .sample_token = sample_token,
    .gather_slots = gather_slots,
    .column_sums = column_sums,
    .row_maxima = row_maxima,
    .count_below = count_below,
    .cross_modal_entropy = cross_modal_entropy,
    .shared_attention = shared_attention,
    .nearest_rows = nearest_rows,
    .merge_rows = merge_rows,
    .gemv = gemv,
    .change_slots = change_slots,
    .nearest_slots = nearest_slots,
    .rotate_append = rotate_append,
    .unit_keys = unit_keys,
    .record = record,
    .replay = replay,
    .forget = forget,
};

}  // namespace
}  // namespace winnow::emulated_gpu

extern "C" const winnow::CudaPluginTable* winnow_cuda_plugin() { return &winnow::emulated_gpu::kTable; }
extern "C" winnow::EmulatedGpuCounts* emulated_gpu_counts() { return &winnow::emulated_gpu::counts(); }
