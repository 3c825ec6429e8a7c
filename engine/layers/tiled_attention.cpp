#include "engine/layers/tiled_attention.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>

#include "engine/base/error.h"
#include "engine/device/processor.h"
#include "engine/device/work_team.h"
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
// Weights that a tile keeps where received attention is counted: what the third-level cache of two threads holds.
constexpr std::int64_t kKeptWeights = std::int64_t{1} << 22;
// Below this many multiply-adds waking the other threads costs more than the work.
constexpr std::int64_t kParallelProducts = 1 << 20;

at::Tensor with_dense_elements(const at::Tensor& heads) { return heads.stride(3) == 1 ? heads : heads.contiguous(); }

// Heads of a batch that read the same keys and values.
std::int64_t sharing_heads(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
  return key.stride(1) == 0 && value.stride(1) == 0 ? query.size(1) : 1;
}

const std::byte* at_head(const at::Tensor& heads, std::int64_t batch, std::int64_t head) {
  return static_cast<const std::byte*>(heads.const_data_ptr()) + (batch * heads.stride(0) + head * heads.stride(1)) * heads.element_size();
}

bool takes(at::ScalarType type, std::int64_t head_dim, std::int64_t rows) {
  if (!find_element_type(type) || head_dim > kernels::kMaxHeadDim) return false;
  return type == at::kFloat ? rows >= kLeastFp32Rows : !has_amx();
}

at::Tensor empty_output(const at::Tensor& query, bool shared) {
  const std::int64_t batch = query.size(0), heads = query.size(1), rows = query.size(2), head_dim = query.size(3);
  return shared ? at::empty({rows, batch, heads, head_dim}, query.options()).permute({1, 2, 0, 3})
                : at::empty({batch, rows, heads, head_dim}, query.options()).transpose(1, 2);
}

// One call of attention, cut into tiles of rows.
class Tiles {
 public:
  // seen_by_first: keys that the first row sees, the next ones one more each; m: every row sees all.
  Tiles(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, std::int64_t seen_by_first, double scale)
      : query_(with_dense_elements(query)),
        key_(with_dense_elements(key)),
        value_(with_dense_elements(value)),
        seen_by_first_(seen_by_first),
        scale_(static_cast<float>(scale)),
        group_(sharing_heads(query_, key_, value_)),
        products_(query.size(0) * query.size(1) / group_) {
    require(key.scalar_type() == query.scalar_type() && value.scalar_type() == query.scalar_type(), "attention: elements of two types");
    result_ = {empty_output(query, group_ == query.size(1)),
               at::empty({query.size(0), query.size(1), query.size(2)}, query.options().dtype(at::kFloat))};
  }

  // received: of a batch of KV heads.
  AttentionResult run(ReceivedAttention& received) {
    if (result_.log_sum_exp.numel() == 0) return result_;
    const std::int64_t rows = query_.size(2);
    const bool small = products_ * group_ * rows * key_.size(2) * query_.size(3) < kParallelProducts;
    const std::int64_t threads = small ? 1 : at::get_num_threads();
    tile_rows_ = rows_of_tile(received.wanted(), threads);
    row_tiles_ = (rows + tile_rows_ - 1) / tile_rows_;
    const std::int64_t tasks = products_ * row_tiles_;
    // The last rows of a causal tile see most and come first; whoever is done takes the next.
    std::atomic<std::int64_t> next{0};
    share_work(std::min(tasks, threads), 1, [&](std::int64_t, std::int64_t) {
      Room room;
      for (std::int64_t task = next++; task < tasks; task = next++) attend(task, room, received);
    });
    return result_;
  }

 private:
  // A thread's own, as large as the largest tile so far.
  class Room {
   public:
    float* workspace(std::int64_t floats) { return grown(workspace_, workspace_floats_, floats); }
    float* kept(std::int64_t floats) { return grown(kept_, kept_floats_, floats); }
    float* sums(std::int64_t floats) { return grown(sums_, sums_floats_, floats); }

   private:
    static float* grown(std::unique_ptr<float[]>& buffer, std::int64_t& has, std::int64_t floats) {
      if (has < floats) {
        buffer = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(floats));
        has = floats;
      }
      return buffer.get();
    }
    std::unique_ptr<float[]> workspace_, kept_, sums_;
    std::int64_t workspace_floats_ = 0, kept_floats_ = 0, sums_floats_ = 0;
  };

  // The order in which received attention is added must not depend on the threads.
  std::int64_t rows_of_tile(bool counts, std::int64_t threads) const {
    const std::int64_t rows = query_.size(2);
    const std::int64_t wanted = counts ? kKeptWeights / key_.size(2) : products_ * group_ * rows / (threads * kTilesPerThread);
    return std::clamp<std::int64_t>(std::clamp(wanted, kLeastRows, kMostRows) / group_, 1, rows);
  }

  void attend(std::int64_t task, Room& room, ReceivedAttention& received) {
    const std::int64_t first = (row_tiles_ - 1 - task / products_) * tile_rows_;
    const std::int64_t heads = query_.size(1);
    const std::int64_t batch = task % products_ / (heads / group_);
    const std::int64_t head = task % products_ % (heads / group_);
    const at::Tensor& output = result_.output;
    kernels::PrefillAttentionArgs args;
    args.type = element_type(query_.scalar_type());
    args.query = at_head(query_, batch, head) + first * query_.stride(2) * query_.element_size();
    args.query_head_stride = query_.stride(1);
    args.query_row_stride = query_.stride(2);
    args.group = group_;
    args.rows = std::min(tile_rows_, query_.size(2) - first);
    args.key = at_head(key_, batch, head);
    args.key_stride = key_.stride(2);
    args.value = at_head(value_, batch, head);
    args.value_stride = value_.stride(2);
    args.keys = key_.size(2);
    args.head_dim = query_.size(3);
    args.seen_by_first = seen_by_first_ < key_.size(2) ? seen_by_first_ + first : seen_by_first_;
    args.scale = scale_;
    args.output = const_cast<std::byte*>(at_head(output, batch, head)) + first * output.stride(2) * output.element_size();
    args.output_head_stride = output.stride(1);
    args.output_row_stride = output.stride(2);
    args.log_sum_exp = result_.log_sum_exp.mutable_data_ptr<float>() + (batch * heads + head) * query_.size(2) + first;
    args.log_sum_exp_stride = query_.size(2);
    args.workspace = room.workspace(kernels::prefill_attention_workspace(group_, tile_rows_, args.head_dim));
    const bool squares = received.squares.defined();
    if (received.wanted()) {
      args.keys = std::min(args.keys, args.seen_by_first + args.rows - 1);
      args.kept = room.kept(kernels::prefill_attention_kept(args));
      args.column_sums = room.sums((group_ + 1) * args.keys);
      args.column_sums_stride = args.keys;
      if (squares) args.column_squares = args.column_sums + group_ * args.keys;
    }
    require(kernels::prefill_attention_cpu(args) == kernels::LaunchStatus::kOk, "attention: the kernel refused its arguments");
    if (!received.wanted()) return;
    const auto keys = static_cast<std::size_t>(args.keys);
    const std::lock_guard lock(adding_);
    received.add(KvHead(batch), args.keys, {args.column_sums, static_cast<std::size_t>(group_) * keys},
                 {args.column_squares, squares ? keys : 0});
  }

  const at::Tensor query_, key_, value_;
  const std::int64_t seen_by_first_;
  const float scale_;
  const std::int64_t group_;     // heads of a kernel call
  const std::int64_t products_;  // calls for a tile of rows
  std::int64_t tile_rows_ = 0;
  std::int64_t row_tiles_ = 0;
  AttentionResult result_;
  std::mutex adding_;
};

}  // namespace

bool tiled_attention_takes(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
  return takes(query.scalar_type(), query.size(3), sharing_heads(query, key, value) * query.size(2));
}

AttentionResult tiled_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, Mask mask, double scale) {
  ReceivedAttention nobody;
  return Tiles(query, key, value, mask == Mask::kCausal ? 1 : key.size(2), scale).run(nobody);
}

bool causal_attention_takes(const at::Tensor& query, std::int64_t kv_heads) {
  return query.is_cpu() && takes(query.scalar_type(), query.size(2), query.size(0) * query.size(1) / kv_heads);
}

AttentionResult causal_attention(const CausalRows& rows, ReceivedAttention& received) {
  const std::int64_t count = rows.query.size(0);
  const std::int64_t kv_heads = rows.key.size(0);
  const std::int64_t group = rows.query.size(1) / kv_heads;
  const std::int64_t head_dim = rows.query.size(2);
  const auto seen = [&](const at::Tensor& heads) {
    return heads.narrow(1, 0, rows.first + count).unsqueeze(1).expand({kv_heads, group, rows.first + count, head_dim});
  };
  const at::Tensor query = rows.query.view({count, kv_heads, group, head_dim}).permute({1, 2, 0, 3});
  const AttentionResult result = Tiles(query, seen(rows.key), seen(rows.value), rows.first + 1, rows.scale).run(received);
  return {result.output.permute({2, 0, 1, 3}).reshape({count, -1, head_dim}).contiguous(), result.log_sum_exp.view({-1, count})};
}

}  // namespace winnow
