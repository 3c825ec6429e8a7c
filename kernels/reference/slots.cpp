// The definition of correct: row by row.
#include "kernels/api/append_slots.h"

#include <cstddef>
#include <cstring>

#include "kernels/api/cuda_rotate_append.h"
#include "kernels/api/gather_slots.h"
#include "kernels/reference/check_slots.h"

namespace winnow::kernels {

LaunchStatus append_slots_reference(const AppendSlotsArgs& args) {
  if (const LaunchStatus status = check_append(args); status != LaunchStatus::kOk) return status;
  const std::int64_t row_bytes = args.head_dim * args.element_bytes;
  const auto copy = [&](const void* from, std::int64_t element, void* block, std::int64_t row) {
    std::memcpy(static_cast<std::byte*>(block) + row * row_bytes, static_cast<const std::byte*>(from) + element * args.element_bytes,
                static_cast<std::size_t>(row_bytes));
  };
  for (std::int64_t head = 0; head < args.kv_heads; ++head) {
    for (std::int64_t token = 0; token < args.tokens; ++token) {
      const std::int64_t slot = args.slots[head] + (args.further != nullptr ? *args.further : 0) + token;
      const std::int64_t entry = head * args.table_stride + slot / args.block_slots;
      copy(args.key, head * args.key_head_stride + token * args.key_token_stride, args.key_blocks[entry], slot % args.block_slots);
      copy(args.value, head * args.value_head_stride + token * args.value_token_stride, args.value_blocks[entry], slot % args.block_slots);
    }
  }
  return LaunchStatus::kOk;
}

// The definition of correct: row by row.
LaunchStatus gather_slots_reference(const GatherSlotsArgs& args) {
  if (const LaunchStatus status = check_gather(args); status != LaunchStatus::kOk) return status;
  const std::int32_t* source = args.sources;
  for (std::int64_t head = 0; head < args.kv_heads; ++head) {
    for (std::int64_t i = 0; i < args.count[head]; ++i) {
      const std::int64_t from = *source++;
      const std::int64_t to = args.first[head] + i;
      const std::int64_t from_entry = head * args.from_stride + from / args.block_slots;
      const std::int64_t to_entry = head * args.to_stride + to / args.block_slots;
      const auto copy = [&](const void* from_block, void* to_block) {
        std::memcpy(static_cast<std::byte*>(to_block) + to % args.block_slots * args.row_bytes,
                    static_cast<const std::byte*>(from_block) + from % args.block_slots * args.row_bytes,
                    static_cast<std::size_t>(args.row_bytes));
      };
      copy(args.from_key_blocks[from_entry], args.to_key_blocks[to_entry]);
      copy(args.from_value_blocks[from_entry], args.to_value_blocks[to_entry]);
    }
  }
  return LaunchStatus::kOk;
}

// The definition of correct: head by head, each by the definition of what is joined here.
LaunchStatus cuda_rotate_append_reference(const CudaRotateAppendArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  const std::int64_t row_bytes = 2 * args.half * (args.type == ElementType::kFp32 ? 4 : 2);
  const auto* const input = static_cast<const std::byte*>(args.input);
  const auto rotate = [&](std::int64_t head, void* output) {
    RotaryArgs one;
    one.type = args.type;
    one.rows = one.heads = 1;
    one.half = args.half;
    one.input = input + head * row_bytes;
    one.cosine = args.cosine;
    one.sine = args.sine;
    one.output = output;
    return rotary_reference(one);
  };
  for (std::int64_t head = 0; head < args.heads; ++head) {
    const LaunchStatus status = rotate(head, static_cast<std::byte*>(args.queries) + head * row_bytes);
    if (status != LaunchStatus::kOk) return status;
  }
  for (std::int64_t head = 0; head < args.kv_heads; ++head) {
    const std::int64_t slot = args.slots[head] + (args.further != nullptr ? *args.further : 0);
    const std::int64_t entry = head * args.table_stride + slot / args.block_slots;
    const std::int64_t place = slot % args.block_slots * row_bytes;
    const LaunchStatus status = rotate(args.heads + head, static_cast<std::byte*>(args.key_blocks[entry]) + place);
    if (status != LaunchStatus::kOk) return status;
    std::memcpy(static_cast<std::byte*>(args.value_blocks[entry]) + place, input + (args.heads + args.kv_heads + head) * row_bytes,
                static_cast<std::size_t>(row_bytes));
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
