// The definition of correct: row by row.
#include "kernels/api/append_slots.h"

#include <cstddef>
#include <cstring>

#include "kernels/reference/check_append.h"

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

}  // namespace winnow::kernels
