#include "engine/layers/tiled_attention.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "engine/base/error.h"
#include "engine/kv_cache/element_type.h"
#include "kernels/api/prefill_attention.h"

namespace winnow {
namespace {

// Rows of all heads of a tile: what pays for packing the keys, and little enough to stay in the second-level cache with a tile of them.
constexpr std::int64_t kMostRows = 288;
constexpr std::int64_t kLeastRows = 96;
// Fewer do not pay for packing in fp32: libtorch's kernel, which packs nothing, is ahead (in 16 bits it never is).
constexpr std::int64_t kLeastFp32Rows = 24;
constexpr std::int64_t kTilesPerThread = 4;
// Below this many multiply-adds waking the other threads costs more than the work.
constexpr std::int64_t kParallelProducts = 1 << 20;

bool has_amx() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("amx-bf16") != 0;
#else
  return false;
#endif
}

at::Tensor with_dense_elements(const at::Tensor& heads) { return heads.stride(3) == 1 ? heads : heads.contiguous(); }

// Heads of a batch that read the same keys and values.
std::int64_t sharing_heads(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
  return key.stride(1) == 0 && value.stride(1) == 0 ? query.size(1) : 1;
}

const std::byte* at_head(const at::Tensor& heads, std::int64_t batch, std::int64_t head) {
  return static_cast<const std::byte*>(heads.const_data_ptr()) + (batch * heads.stride(0) + head * heads.stride(1)) * heads.element_size();
}

}  // namespace

bool tiled_attention_takes(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
  if (!find_element_type(query.scalar_type()) || query.size(3) > kernels::kMaxHeadDim) return false;
  if (query.scalar_type() != at::kFloat) return !has_amx();
  return sharing_heads(query, key, value) * query.size(2) >= kLeastFp32Rows;
}

AttentionResult tiled_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, Mask mask, double scale) {
  const std::int64_t batch = query.size(0);
  const std::int64_t heads = query.size(1);
  const std::int64_t rows = query.size(2);
  const std::int64_t keys = key.size(2);
  const std::int64_t head_dim = query.size(3);
  require(key.scalar_type() == query.scalar_type() && value.scalar_type() == query.scalar_type(), "attention: elements of two types");
  const at::Tensor asking = with_dense_elements(query);
  const at::Tensor read = with_dense_elements(key);
  const at::Tensor taken = with_dense_elements(value);
  const std::int64_t group = sharing_heads(query, read, taken);
  const bool shared = group == heads;
  const std::int64_t products = batch * heads / group;
  AttentionResult result{shared ? at::empty({rows, batch, heads, head_dim}, query.options()).permute({1, 2, 0, 3})
                                : at::empty({batch, rows, heads, head_dim}, query.options()).transpose(1, 2),
                         at::empty({batch, heads, rows}, query.options().dtype(at::kFloat))};
  if (result.log_sum_exp.numel() == 0) return result;

  const bool small = products * group * rows * keys * head_dim < kParallelProducts;
  const std::int64_t threads = small ? 1 : at::get_num_threads();
  const std::int64_t wanted = products * group * rows / (threads * kTilesPerThread);
  const std::int64_t tile_rows = std::clamp<std::int64_t>(std::clamp(wanted, kLeastRows, kMostRows) / group, 1, rows);
  const std::int64_t row_tiles = (rows + tile_rows - 1) / tile_rows;
  const std::int64_t tasks = products * row_tiles;
  // The last rows of a causal tile see most and come first; whoever is done takes the next.
  std::atomic<std::int64_t> next{0};
  std::atomic<bool> refused{false};
  at::parallel_for(0, std::min(tasks, threads), 1, [&](std::int64_t, std::int64_t) {
    std::vector<float> workspace(static_cast<std::size_t>(kernels::prefill_attention_workspace(group, tile_rows, head_dim)));
    for (std::int64_t task = next++; task < tasks; task = next++) {
      const std::int64_t first = (row_tiles - 1 - task / products) * tile_rows;
      const std::int64_t of_batch = task % products / (heads / group);
      const std::int64_t head = task % products % (heads / group);
      kernels::PrefillAttentionArgs args;
      args.type = element_type(query.scalar_type());
      args.query = at_head(asking, of_batch, head) + first * asking.stride(2) * asking.element_size();
      args.query_head_stride = asking.stride(1);
      args.query_row_stride = asking.stride(2);
      args.group = group;
      args.rows = std::min(tile_rows, rows - first);
      args.key = at_head(read, of_batch, head);
      args.key_stride = read.stride(2);
      args.value = at_head(taken, of_batch, head);
      args.value_stride = taken.stride(2);
      args.keys = keys;
      args.head_dim = head_dim;
      args.seen_by_first = mask == Mask::kCausal ? first + 1 : keys;
      args.scale = static_cast<float>(scale);
      args.output =
          const_cast<std::byte*>(at_head(result.output, of_batch, head)) + first * result.output.stride(2) * result.output.element_size();
      args.output_head_stride = result.output.stride(1);
      args.output_row_stride = result.output.stride(2);
      args.log_sum_exp = result.log_sum_exp.mutable_data_ptr<float>() + (of_batch * heads + head) * rows + first;
      args.log_sum_exp_stride = rows;
      args.workspace = workspace.data();
      if (kernels::prefill_attention_cpu(args) != kernels::LaunchStatus::kOk) refused = true;
    }
  });
  require(!refused, "attention: the kernel refused its arguments");
  return result;
}

}  // namespace winnow
