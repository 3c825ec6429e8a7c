// The definition of correct: head by head, each by the definition of what is joined here.
#include "kernels/api/cuda_rotate_append.h"

#include <cstddef>
#include <cstring>

#include "kernels/reference/check_rotate_append.h"

namespace winnow::kernels {

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
