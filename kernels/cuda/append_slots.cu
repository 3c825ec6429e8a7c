// Appended slots: device code and launch. Tests run both on CPU threads, too (tests/kernels/cuda_on_cpu.h).
//
// A warp copies the K and V row of one token of one head; four tokens per thread block.
#include <algorithm>
#include <cstdint>

#include "kernels/api/append_slots.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/overlap.cuh"
#include "kernels/reference/check_slots.h"

namespace winnow::kernels::cuda {

constexpr int kAppendTokens = 4;  // per thread block

struct AppendLaunch {
  const void* key;
  const void* value;
  std::int64_t key_head_stride;
  std::int64_t key_token_stride;
  std::int64_t value_head_stride;
  std::int64_t value_token_stride;
  void* const* key_blocks;
  void* const* value_blocks;
  std::int64_t table_stride;
  int tokens;
  int head_dim;
  int block_slots;
  const std::int32_t* further;  // or null
  int slots[kMaxAppendHeads];
};

// args have been checked.
inline AppendLaunch plan_launch(const AppendSlotsArgs& args) {
  AppendLaunch launch = {};
  launch.key = args.key;
  launch.value = args.value;
  launch.key_head_stride = args.key_head_stride;
  launch.key_token_stride = args.key_token_stride;
  launch.value_head_stride = args.value_head_stride;
  launch.value_token_stride = args.value_token_stride;
  launch.key_blocks = args.key_blocks;
  launch.value_blocks = args.value_blocks;
  launch.table_stride = args.table_stride;
  launch.tokens = static_cast<int>(args.tokens);
  launch.head_dim = static_cast<int>(args.head_dim);
  launch.block_slots = static_cast<int>(args.block_slots);
  launch.further = args.further;
  std::copy_n(args.slots, args.kv_heads, launch.slots);
  return launch;
}

// Element: an unsigned integer of the element's size. Threads: 32 x kAppendTokens; grid: tokens / kAppendTokens x kv_heads.
template <class Element>
__global__ void __launch_bounds__(32 * kAppendTokens) append_rows(AppendLaunch args) {
  let_next_begin();
  wait_for_earlier();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int token = static_cast<int>(blockIdx.x) * kAppendTokens + static_cast<int>(threadIdx.x) / 32;
  const int head = static_cast<int>(blockIdx.y);
  if (token >= args.tokens) return;
  const int slot = args.slots[head] + (args.further != nullptr ? *args.further : 0) + token;
  const std::int64_t entry = head * args.table_stride + slot / args.block_slots;
  const std::int64_t row = static_cast<std::int64_t>(slot % args.block_slots) * args.head_dim;
  const Element* key = static_cast<const Element*>(args.key) + head * args.key_head_stride + token * args.key_token_stride;
  const Element* value = static_cast<const Element*>(args.value) + head * args.value_head_stride + token * args.value_token_stride;
  Element* to_key = static_cast<Element*>(args.key_blocks[entry]) + row;
  Element* to_value = static_cast<Element*>(args.value_blocks[entry]) + row;
  for (int i = lane; i < args.head_dim; i += 32) {
    to_key[i] = key[i];
    to_value[i] = value[i];
  }
}

}  // namespace winnow::kernels::cuda

namespace winnow::kernels {

LaunchStatus cuda_append_slots(const AppendSlotsArgs& args, void* stream) {
  if (const LaunchStatus status = check_append(args); status != LaunchStatus::kOk) return status;
  const cuda::AppendLaunch launch = cuda::plan_launch(args);
  const cuda::Grid grid(static_cast<unsigned>((args.tokens + cuda::kAppendTokens - 1) / cuda::kAppendTokens),
                        static_cast<unsigned>(args.kv_heads));
  if (args.element_bytes == 2) {
    cuda::launch_overlapped(cuda::append_rows<std::uint16_t>, grid, 32 * cuda::kAppendTokens, stream, launch);
  } else {
    cuda::launch_overlapped(cuda::append_rows<std::uint32_t>, grid, 32 * cuda::kAppendTokens, stream, launch);
  }
  return cuda::launch_status();
}

}  // namespace winnow::kernels
