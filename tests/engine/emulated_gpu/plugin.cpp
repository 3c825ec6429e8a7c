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
  here.key = behind(args->key);
  here.value = behind(args->value);
  here.key_blocks = keys.data();
  here.value_blocks = values.data();
  here.further = static_cast<const std::int32_t*>(behind(args->further));
  return static_cast<int>(kernels::append_slots_reference(here));
}

int block_gemv(const kernels::CudaBlockGemvArgs* args) {
  ++counts().launches;
  kernels::CudaBlockGemvArgs here = *args;
  here.matrix = behind(args->matrix);
  here.row_of = static_cast<const std::int32_t*>(behind(args->row_of));
  here.input = behind(args->input);
  here.output = behind(args->output);
  return static_cast<int>(kernels::cuda_block_gemv_reference(here));
}

int dequantise_rows(const kernels::CudaDequantiseRowsArgs* args) {
  ++counts().launches;
  kernels::CudaDequantiseRowsArgs here = *args;
  here.matrix = behind(args->matrix);
  here.row_of = static_cast<const std::int32_t*>(behind(args->row_of));
  here.column_of = static_cast<const std::int32_t*>(behind(args->column_of));
  here.ids = static_cast<const std::int64_t*>(behind(args->ids));
  here.output = behind(args->output);
  return static_cast<int>(kernels::cuda_dequantise_rows_reference(here));
}

int gated_activation(const kernels::GatedActivationArgs* args) {
  ++counts().launches;
  kernels::GatedActivationArgs here = *args;
  here.gate = behind(args->gate);
  here.up = behind(args->up);
  here.output = behind(args->output);
  return static_cast<int>(kernels::gated_activation_reference(here));
}

int rms_norm(const kernels::RmsNormArgs* args) {
  ++counts().launches;
  kernels::RmsNormArgs here = *args;
  here.input = behind(args->input);
  here.weight = behind(args->weight);
  here.output = behind(args->output);
  here.added = behind(args->added);
  here.sum = behind(args->sum);
  return static_cast<int>(kernels::rms_norm_reference(here));
}

int rotary(const kernels::RotaryArgs* args) {
  ++counts().launches;
  kernels::RotaryArgs here = *args;
  here.input = behind(args->input);
  here.cosine = behind(args->cosine);
  here.sine = behind(args->sine);
  here.output = behind(args->output);
  return static_cast<int>(kernels::rotary_reference(here));
}

int sample_token(const kernels::SampleTokenArgs* args) {
  counts().launches += kernels::choice_launches(*args);
  kernels::SampleTokenArgs here = *args;
  here.logits = static_cast<const float*>(behind(args->logits));
  here.seen = static_cast<std::uint8_t*>(behind(args->seen));
  here.fresh = static_cast<const std::int64_t*>(behind(args->fresh));
  here.workspace = static_cast<std::uint64_t*>(behind(args->workspace));
  here.choice = static_cast<std::int64_t*>(behind(args->choice));
  return static_cast<int>(kernels::sample_token_reference(here));
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
  here.sources = static_cast<const std::int32_t*>(behind(args->sources));
  return static_cast<int>(kernels::gather_slots_reference(here));
}

int column_sums(const kernels::CudaColumnSumsArgs* args) {
  counts().launches += 2;
  kernels::CudaColumnSumsArgs here = *args;
  here.query = behind(args->query);
  here.key = behind(args->key);
  here.log_sum_exp = static_cast<const float*>(behind(args->log_sum_exp));
  here.sums = static_cast<float*>(behind(args->sums));
  here.squares = static_cast<float*>(behind(args->squares));
  here.entropy = static_cast<double*>(behind(args->entropy));
  here.workspace = behind(args->workspace);
  return static_cast<int>(kernels::cuda_column_sums_reference(here));
}

kernels::CudaSeenLogits seen_here(kernels::CudaSeenLogits logits) {
  logits.query = behind(logits.query);
  logits.key = behind(logits.key);
  logits.seen = static_cast<const std::int32_t*>(behind(logits.seen));
  return logits;
}

int row_maxima(const kernels::CudaRowMaximaArgs* args) {
  ++counts().launches;
  kernels::CudaRowMaximaArgs here = *args;
  static_cast<kernels::CudaSeenLogits&>(here) = seen_here(*args);
  here.maxima = static_cast<float*>(behind(args->maxima));
  return static_cast<int>(kernels::cuda_row_maxima_reference(here));
}

int count_below(const kernels::CudaCountBelowArgs* args) {
  ++counts().launches;
  kernels::CudaCountBelowArgs here = *args;
  static_cast<kernels::CudaSeenLogits&>(here) = seen_here(*args);
  here.maxima = static_cast<const float*>(behind(args->maxima));
  here.counts = static_cast<std::int64_t*>(behind(args->counts));
  return static_cast<int>(kernels::cuda_count_below_reference(here));
}

int cross_modal_entropy(const kernels::CudaCrossModalArgs* args) {
  counts().launches += 4;
  kernels::CudaCrossModalArgs here = *args;
  static_cast<kernels::CudaSeenLogits&>(here) = seen_here(*args);
  here.row_of = static_cast<const std::int32_t*>(behind(args->row_of));
  here.column_of = static_cast<const std::int32_t*>(behind(args->column_of));
  here.entropy = static_cast<double*>(behind(args->entropy));
  here.workspace = behind(args->workspace);
  return static_cast<int>(kernels::cuda_cross_modal_entropy_reference(here));
}

int shared_attention(const kernels::CudaSharedAttentionArgs* args) {
  counts().launches += args->parts == 1 && args->probabilities == nullptr ? 1 : 2;
  if (const LaunchStatus fit = kernels::check_arguments(*args); fit != LaunchStatus::kOk) return static_cast<int>(fit);
  const std::vector<const void*> keys = blocks_behind<const void*>(args->key_blocks, args->kv_heads * args->table_stride);
  const std::vector<const void*> values = blocks_behind<const void*>(args->value_blocks, args->kv_heads * args->table_stride);
  kernels::CudaSharedAttentionArgs here = *args;
  here.query = behind(args->query);
  here.output = behind(args->output);
  here.key_blocks = keys.data();
  here.value_blocks = values.data();
  here.entry_slot = static_cast<const std::int32_t*>(behind(args->entry_slot));
  here.entry_factor = static_cast<const float*>(behind(args->entry_factor));
  here.entry_position = static_cast<const float*>(behind(args->entry_position));
  here.frequencies = static_cast<const float*>(behind(args->frequencies));
  here.log_sum_exp = static_cast<float*>(behind(args->log_sum_exp));
  here.probabilities = static_cast<float*>(behind(args->probabilities));
  return static_cast<int>(kernels::cuda_shared_attention_reference(here));
}

int nearest_rows(const kernels::CudaNearestRowsArgs* args) {
  counts().launches += 3;
  kernels::CudaNearestRowsArgs here = *args;
  here.first = behind(args->first);
  here.second = behind(args->second);
  here.asking = static_cast<const std::int32_t*>(behind(args->asking));
  here.among = static_cast<const std::int32_t*>(behind(args->among));
  here.similarity = static_cast<float*>(behind(args->similarity));
  here.nearest = static_cast<std::int32_t*>(behind(args->nearest));
  return static_cast<int>(kernels::cuda_nearest_rows_reference(here));
}

int merge_rows(const kernels::CudaMergeRowsArgs* args) {
  ++counts().launches;
  kernels::CudaMergeRowsArgs here = *args;
  here.rows = static_cast<const float*>(behind(args->rows));
  here.stay = static_cast<const std::int32_t*>(behind(args->stay));
  here.own = static_cast<const float*>(behind(args->own));
  here.divisor = static_cast<const float*>(behind(args->divisor));
  here.begin = static_cast<const std::int32_t*>(behind(args->begin));
  here.from = static_cast<const std::int32_t*>(behind(args->from));
  here.weight = static_cast<const float*>(behind(args->weight));
  here.output = static_cast<float*>(behind(args->output));
  return static_cast<int>(kernels::cuda_merge_rows_reference(here));
}

int gemv(const kernels::CudaGemvArgs* args) {
  ++counts().launches;
  kernels::CudaGemvArgs here = *args;
  here.matrix = behind(args->matrix);
  here.input = behind(args->input);
  here.bias = behind(args->bias);
  here.output = behind(args->output);
  return static_cast<int>(kernels::cuda_gemv_reference(here));
}

int change_slots(const kernels::CudaChangeSlotsArgs* args) {
  ++counts().launches;
  kernels::CudaChangeSlotsArgs here = *args;
  here.begin = static_cast<const std::int32_t*>(behind(args->begin));
  const auto* const first = static_cast<const kernels::SlotChange*>(behind(args->changes));
  std::vector<kernels::SlotChange> changes(first, first + here.begin[here.lists]);
  for (kernels::SlotChange& change : changes) {
    change.from_key = behind(change.from_key);
    change.from_value = behind(change.from_value);
    change.to_key = behind(change.to_key);
    change.to_value = behind(change.to_value);
  }
  here.changes = changes.data();
  return static_cast<int>(kernels::cuda_change_slots_reference(here));
}

int nearest_slots(const kernels::CudaNearestSlotsArgs* args) {
  ++counts().launches;
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
  here.found = static_cast<kernels::SimilarFound*>(behind(args->found));
  return static_cast<int>(kernels::cuda_nearest_slots_reference(here));
}

int unit_keys(const kernels::CudaUnitKeysArgs* args) {
  ++counts().launches;
  kernels::CudaUnitKeysArgs here = *args;
  const auto* const first = static_cast<const kernels::UnitKey*>(behind(args->keys));
  std::vector<kernels::UnitKey> keys(first, first + here.count);
  for (kernels::UnitKey& one : keys) one.key = behind(one.key);
  here.keys = keys.data();
  here.frequencies = static_cast<const float*>(behind(args->frequencies));
  here.lengths = static_cast<float*>(behind(args->lengths));
  return static_cast<int>(kernels::cuda_unit_keys_reference(here));
}

int rotate_append(const kernels::CudaRotateAppendArgs* args) {
  ++counts().launches;
  const std::vector<void*> keys = blocks_behind<void*>(args->key_blocks, args->kv_heads * args->table_stride);
  const std::vector<void*> values = blocks_behind<void*>(args->value_blocks, args->kv_heads * args->table_stride);
  kernels::CudaRotateAppendArgs here = *args;
  here.input = behind(args->input);
  here.cosine = behind(args->cosine);
  here.sine = behind(args->sine);
  here.queries = behind(args->queries);
  here.further = static_cast<const std::int32_t*>(behind(args->further));
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
