// bench_cuda_column_sums: column sums of a prefill on a GPU by one kernel, beside tiles of libtorch's operators.
//
// bench_cuda_column_sums [tokens]. Prints one JSON line for each shape, number of rows and whether squares and entropies are wanted: of an
// interleaved run, how many times as fast as the tiles the kernel is, and its multiplications a second. Fails if the sums differ.
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <optional>
#include <vector>

#include "engine/compression/statistics/attention_statistics.h"
#include "engine/compression/statistics/column_totals.h"
#include "engine/device/cuda_plugin.h"
#include "tests/bench/engine_gpu_time.h"

namespace {

using namespace winnow;
using winnow::testing::kGpu;
using winnow::testing::median;
using winnow::testing::seconds;

constexpr int kRounds = 5;

struct Shape {
  const char* name;
  std::int64_t heads, kv_heads, head_dim;
};

// Calls visit(first row, rows, keys that these may see, their scaled logits [Hkv, G, rows, keys], -inf of those that come later).
template <class Visit>
void for_tiles(const LayerView& view, std::int64_t first_row, std::int64_t tile_keys, Visit visit) {
  const std::int64_t n = view.query.size(1);
  const std::int64_t kv_heads = view.key.size(0);
  const auto index = at::TensorOptions(kGpu).dtype(at::kLong);
  for (std::int64_t row = first_row; row < n; row += kStatisticsRowTile) {
    const std::int64_t rows = std::min(kStatisticsRowTile, n - row);
    const at::Tensor query = (view.query.narrow(1, row, rows).to(at::kFloat) * view.scale).reshape({kv_heads, -1, view.query.size(2)});
    for (std::int64_t first = 0; first < row + rows; first += tile_keys) {
      const std::int64_t count = std::min(tile_keys, row + rows - first);
      const at::Tensor keys = view.key.narrow(1, first, count).to(at::kFloat);
      at::Tensor logits = at::bmm(query, keys.transpose(1, 2)).reshape({kv_heads, -1, rows, count});
      if (first + count - 1 > row) {
        const at::Tensor later = at::arange(first, first + count, index).unsqueeze(0).gt(at::arange(row, row + rows, index).unsqueeze(1));
        logits.masked_fill_(later, -std::numeric_limits<double>::infinity());
      }
      visit(row, rows, first, logits);
    }
  }
}

LayerView random_layer(const Shape& shape, std::int64_t n) {
  const auto bf16 = at::TensorOptions(kGpu).dtype(at::kBFloat16);
  LayerView view;
  view.query = at::randn({n, shape.heads, shape.head_dim}, bf16).transpose(0, 1);  // as slices of a projection lie
  view.key = at::randn({n, shape.kv_heads, shape.head_dim}, bf16).transpose(0, 1);
  view.scale = 1.0 / std::sqrt(static_cast<double>(shape.head_dim));
  view.log_sum_exp = at::empty({shape.heads, n}, bf16.dtype(at::kFloat));
  for_tiles(view, 0, n, [&](std::int64_t row, std::int64_t rows, std::int64_t, const at::Tensor& logits) {
    view.log_sum_exp.narrow(1, row, rows).copy_(logits.logsumexp(3).view({shape.heads, rows}));
  });
  return view;
}

ColumnTotals zeros(const Shape& shape, std::int64_t n, bool everything) {
  const auto fp32 = at::TensorOptions(kGpu).dtype(at::kFloat);
  ColumnTotals totals{.sums = at::zeros({shape.kv_heads, shape.heads / shape.kv_heads, n}, fp32)};
  if (!everything) return totals;
  totals.squares = at::zeros({shape.kv_heads, n}, fp32);
  totals.entropy = at::zeros({shape.kv_heads, shape.heads / shape.kv_heads}, fp32.dtype(at::kDouble));
  return totals;
}

void add_tiled(const LayerView& view, std::int64_t first_row, ColumnTotals& totals) {
  for_tiles(view, first_row, kStatisticsKeyTile, [&](std::int64_t row, std::int64_t rows, std::int64_t first, at::Tensor& logits) {
    const at::Tensor lse = view.log_sum_exp.narrow(1, row, rows).reshape({logits.size(0), -1, rows, 1});
    const at::Tensor p = logits.sub(lse).exp_();
    if (totals.entropy.defined()) totals.entropy.sub_(at::xlogy(p, p).sum({2, 3}, false, at::kDouble));
    totals.sums.narrow(2, first, logits.size(3)).add_(p.sum(2));
    if (totals.squares.defined()) totals.squares.narrow(1, first, logits.size(3)).add_(p.mean(1).square_().sum(1));
  });
}

bool are_near(const at::Tensor& ours, const at::Tensor& theirs) {
  if (!ours.defined()) return true;
  return (ours - theirs).abs_().max().item<double>() <= 1e-3 * theirs.abs().max().item<double>();
}

bool run(const Shape& shape, const LayerView& view, std::int64_t rows, bool everything) {
  const std::int64_t n = view.query.size(1);
  ColumnTotals ours = zeros(shape, n, everything);
  ColumnTotals tiled = zeros(shape, n, everything);
  add_columns(view, n - rows, 0, ours);
  add_tiled(view, n - rows, tiled);
  if (!are_near(ours.sums, tiled.sums) || !are_near(ours.squares, tiled.squares) || !are_near(ours.entropy, tiled.entropy)) return false;
  std::vector<double> of_ours;
  std::vector<double> of_tiled;
  for (int i = 0; i < kRounds; ++i) {
    const auto by_kernel = [&] { of_ours.push_back(seconds(1, [&] { add_columns(view, n - rows, 0, ours); })); };
    const auto by_tiles = [&] { of_tiled.push_back(seconds(1, [&] { add_tiled(view, n - rows, tiled); })); };
    by_kernel();
    by_tiles();
    by_tiles();
    by_kernel();
  }
  const double time = median(of_ours);
  const double seen = static_cast<double>(rows) * (static_cast<double>(n) - 0.5 * static_cast<double>(rows - 1));
  const double multiplications = seen * static_cast<double>(shape.heads * shape.head_dim);
  std::printf(R"({"shape":"%s","tokens":%lld,"rows":%lld,"everything":%s,"times_tiles":%.2f,"tera_multiply_adds":%.2f,"median_us":%.1f})"
              "\n",
              shape.name, static_cast<long long>(n), static_cast<long long>(rows), everything ? "true" : "false", median(of_tiled) / time,
              multiplications / time * 1e-12, time * 1e6);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::optional<std::int64_t> given = testing::only_number(argc, argv, 8192, 64);
    if (!given) {
      std::fprintf(stderr, "usage: bench_cuda_column_sums [tokens, at least 64]\n");
      return 2;
    }
    const std::int64_t tokens = *given;
    const CudaDevice& device = open_cuda();
    const c10::InferenceMode inference;
    at::manual_seed(1);
    std::printf(R"({"device":"%s"})"
                "\n",
                device.name.c_str());
    for (const Shape& shape : {Shape{"Qwen2-VL 7B", 28, 4, 128}, {"Llama 7B", 32, 32, 128}, {"Qwen2 0.5B", 14, 2, 64}}) {
      const LayerView view = random_layer(shape, tokens);
      for (const std::int64_t rows : {tokens, std::int64_t{64}}) {
        for (const bool everything : {false, true}) {
          if (run(shape, view, rows, everything)) continue;
          std::fprintf(stderr, "%s: the sums differ from those of tiles\n", shape.name);
          return 1;
        }
      }
    }
    return 0;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "bench_cuda_column_sums: %s\n", problem.what());
    return 1;
  }
}
