// bench_prefill_attention: prefill and tower attention on the CPU (engine/layers/attention.h) beside libtorch's flash attention.
//
// Prints one JSON line for each shape and number of threads: of one interleaved run (A-B-B-A), the median and the quartiles of libtorch's
// time over ours, and our multiply-adds a second as a share of those of libtorch's matrix product in the same type, measured around it.
// Fails if the two results differ by more than their rounding.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

#include "engine/layers/attention.h"

namespace {

using winnow::AttentionResult;
using winnow::Mask;

struct Shape {
  const char* name;
  at::ScalarType type;
  std::int64_t batch, heads, rows, head_dim;
  Mask mask;
  bool shared_keys;  // one kv head for all heads of a batch
};

template <class Call>
double seconds(const Call& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(std::lround(share * static_cast<double>(values.size() - 1)))];
}

// Multiply-adds a second of the largest products of a 0.5B model's MLP.
double product_rate(const at::Tensor& left, const at::Tensor& right) {
  const double time = seconds([&] { at::mm(left, right); });
  return static_cast<double>(left.size(0) * left.size(1) * right.size(1)) / time;
}

bool run(const Shape& shape) {
  const auto options = at::TensorOptions().dtype(shape.type);
  // As decoders and towers have them: rows outermost.
  const auto random = [&](std::int64_t heads) {
    return at::randn({shape.batch, shape.rows, heads, shape.head_dim}, options).transpose(1, 2);
  };
  const auto keys = [&] {
    return shape.shared_keys ? random(1).expand({shape.batch, shape.heads, shape.rows, shape.head_dim}) : random(shape.heads);
  };
  const at::Tensor query = random(shape.heads);
  const at::Tensor key = keys();
  const at::Tensor value = keys();
  const double scale = 1.0 / std::sqrt(static_cast<double>(shape.head_dim));
  AttentionResult ours;
  AttentionResult theirs;
  const auto call_ours = [&] { ours = winnow::attention_with_lse(query, key, value, shape.mask, scale); };
  const auto call_theirs = [&] {
    auto [output, log_sum_exp] =
        at::_scaled_dot_product_flash_attention_for_cpu(query, key, value, 0.0, shape.mask == Mask::kCausal, {}, scale);
    theirs = {std::move(output), std::move(log_sum_exp)};
  };
  call_ours();
  call_theirs();
  // A value is below 6, and off by half a unit of its eighth or eleventh bit twice.
  const double most = shape.type == at::kFloat ? 1e-4 : 5e-2;
  const auto distance = [](const at::Tensor& a, const at::Tensor& b) {
    return (a.to(at::kFloat) - b.to(at::kFloat)).abs().max().item<double>();
  };
  if (!(distance(ours.output, theirs.output) <= most) || !(distance(ours.log_sum_exp, theirs.log_sum_exp) <= 1e-3)) return false;

  const at::Tensor left = at::randn({2048, 896}, options);
  const at::Tensor right = at::randn({896, 4864}, options);
  const double half = shape.mask == Mask::kCausal ? 0.5 : 1.0;
  const double products = 2.0 * half * static_cast<double>(shape.batch * shape.heads * shape.rows * shape.rows * shape.head_dim);
  std::vector<double> ratios;
  std::vector<double> rates;
  std::vector<double> product_rates;
  const int rounds = products > 1e10 ? 3 : 9;
  for (int i = 0; i < rounds; ++i) {
    product_rates.push_back(product_rate(left, right));
    const double first = seconds(call_ours);
    const double their_first = seconds(call_theirs);
    const double their_second = seconds(call_theirs);
    const double second = seconds(call_ours);
    ratios.push_back((their_first + their_second) / (first + second));
    rates.push_back(2.0 * products / (first + second));
  }
  std::printf(
      R"({"shape":"%s","type":"%s","rows":%lld,"head_dim":%lld,"threads":%d,"libtorch_to_ours":%.2f,"quartiles":[%.2f,%.2f],"share_of_product":%.2f})"
      "\n",
      shape.name, at::toString(shape.type), static_cast<long long>(shape.rows), static_cast<long long>(shape.head_dim),
      at::get_num_threads(), quantile(ratios, 0.5), quantile(ratios, 0.25), quantile(ratios, 0.75),
      quantile(rates, 0.5) / quantile(product_rates, 0.5));
  std::fflush(stdout);
  return true;
}

}  // namespace

int main() {
  at::manual_seed(5);
  std::vector<Shape> shapes;
  for (const std::int64_t head_dim : {64, 128}) {
    for (const std::int64_t rows : {512, 2048, 8192}) {
      shapes.push_back({"7 heads of one kv head, causal", at::kBFloat16, 1, 7, rows, head_dim, Mask::kCausal, true});
    }
  }
  shapes.push_back({"7 heads, causal", at::kBFloat16, 1, 7, 2048, 64, Mask::kCausal, false});
  shapes.push_back({"7 heads of one kv head, causal", at::kFloat, 1, 7, 2048, 64, Mask::kCausal, true});
  shapes.push_back({"7 heads of one kv head, causal", at::kHalf, 1, 7, 2048, 64, Mask::kCausal, true});
  for (const std::int64_t head_dim : {64, 72, 80}) {
    shapes.push_back({"2 frames, 16 heads", at::kBFloat16, 2, 16, 729, head_dim, Mask::kNone, false});
  }
  shapes.push_back({"64 windows, 16 heads", at::kBFloat16, 64, 16, 64, 80, Mask::kNone, false});
  shapes.push_back({"2 frames, 16 heads", at::kFloat, 2, 16, 729, 72, Mask::kNone, false});
  for (const int threads : {1, 2}) {
    at::set_num_threads(threads);
    for (const Shape& shape : shapes) {
      if (!run(shape)) {
        std::fprintf(stderr, "%s, %lld rows, head size %lld: the results differ\n", shape.name, static_cast<long long>(shape.rows),
                     static_cast<long long>(shape.head_dim));
        return 1;
      }
    }
  }
}
