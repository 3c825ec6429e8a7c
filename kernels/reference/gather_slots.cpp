// The definition of correct: row by row.
#include "kernels/api/gather_slots.h"

#include <cstddef>
#include <cstring>

#include "kernels/reference/check_gather.h"

namespace winnow::kernels {

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

}  // namespace winnow::kernels
