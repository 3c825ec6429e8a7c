// bench_between_products: what stands between a decoder layer's products on the CPU (engine/layers: gated activation, RMS norm, rotary
// positions), each one kernel, beside libtorch's operators one after the other.
//
// Prints one JSON line for each operator, type, number of rows and of threads: of one interleaved run (A-B-B-A), the median and the
// quartiles of libtorch's time over ours. Shapes are a 0.5B model's. Fails if the two results differ by more than their rounding.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

#include "engine/layers/activation.h"
#include "engine/layers/norm.h"
#include "engine/layers/rotary.h"

namespace {

constexpr std::int64_t kHidden = 896;
constexpr std::int64_t kInner = 4864;
constexpr std::int64_t kHeads = 16;  // of queries and keys
constexpr std::int64_t kHeadDim = 64;

struct Operator {
  const char* name;
  std::function<at::Tensor()> ours;
  std::function<at::Tensor()> theirs;
};

std::vector<Operator> operators(at::ScalarType type, std::int64_t rows) {
  const auto random = [&](at::IntArrayRef sizes) { return at::randn(sizes).to(type); };
  const at::Tensor both = random({rows, 2 * kInner});
  const at::Tensor hidden = random({rows, kHidden});
  const at::Tensor added = random({rows, kHidden});
  const at::Tensor heads = random({rows, kHeads, kHeadDim});
  const winnow::RmsNorm norm{random({kHidden}), 1e-6};
  const winnow::RotaryAngles angles =
      winnow::RotaryEmbedding(kHeadDim, {1e4, {}}, type, at::kCPU).angles(at::arange(rows, at::kLong).unsqueeze(0));
  const auto libtorch_norm = [norm](const at::Tensor& input) {
    at::Tensor scale = at::linalg_vector_norm(input, 2, {-1}, /*keepdim=*/true, at::kFloat);
    scale.mul_(scale).div_(input.size(-1)).add_(norm.epsilon).rsqrt_();
    at::Tensor normalised = at::empty(input.sizes(), input.options());
    at::mul_out(normalised, input, scale);
    return normalised.mul_(norm.weight);
  };
  return {
      {"gated activation", [=] { return winnow::activate_gated(winnow::Activation::kSilu, both); },
       [=] { return at::silu(both.narrow(1, 0, kInner)).mul_(both.narrow(1, kInner, kInner)); }},
      {"norm", [=] { return norm(hidden); }, [=] { return libtorch_norm(hidden); }},
      {"norm after adding",
       [=] {
         at::Tensor sum = hidden.clone();
         return norm.after_adding(sum, added);
       },
       [=] {
         at::Tensor sum = hidden.clone();
         return libtorch_norm(sum.add_(added));
       }},
      {"rotary",
       [=] {
         at::Tensor out = at::empty_like(heads);
         winnow::apply_rotary(heads, angles, out);
         return out;
       },
       [=] {
         at::Tensor out = at::empty_like(heads);
         const std::int64_t half = kHeadDim / 2;
         const at::Tensor first = heads.narrow(2, 0, half), second = heads.narrow(2, half, half);
         at::Tensor out_first = out.narrow(2, 0, half), out_second = out.narrow(2, half, half);
         at::mul_out(out_first, first, angles.cosine);
         out_first.addcmul_(second, angles.sine, -1);
         at::mul_out(out_second, second, angles.cosine);
         out_second.addcmul_(first, angles.sine);
         return out;
       }},
  };
}

double seconds(const std::function<at::Tensor()>& call, int times) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(std::lround(share * static_cast<double>(values.size() - 1)))];
}

bool run(const Operator& op, at::ScalarType type, std::int64_t rows) {
  const double most = type == at::kFloat ? 1e-5 : 0.15;  // of numbers below 16
  if (!((op.ours().to(at::kFloat) - op.theirs().to(at::kFloat)).abs().max().item<double>() <= most)) return false;
  const int times = rows == 1 ? 200 : 2;
  std::vector<double> ratios;
  for (int round = 0; round < 15; ++round) {
    const double first = seconds(op.ours, times);
    const double their_first = seconds(op.theirs, times);
    const double their_second = seconds(op.theirs, times);
    const double second = seconds(op.ours, times);
    ratios.push_back((their_first + their_second) / (first + second));
  }
  std::printf(R"({"operator":"%s","type":"%s","rows":%lld,"threads":%d,"libtorch_to_ours":%.2f,"quartiles":[%.2f,%.2f]})"
              "\n",
              op.name, at::toString(type), static_cast<long long>(rows), at::get_num_threads(), quantile(ratios, 0.5),
              quantile(ratios, 0.25), quantile(ratios, 0.75));
  std::fflush(stdout);
  return true;
}

}  // namespace

int main() {
  const c10::InferenceMode inference;
  at::manual_seed(5);
  for (const int threads : {1, 2}) {
    at::set_num_threads(threads);
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
      for (const std::int64_t rows : {1, 512}) {
        for (const Operator& op : operators(type, rows)) {
          if (run(op, type, rows)) continue;
          std::fprintf(stderr, "%s, %lld rows: the results differ\n", op.name, static_cast<long long>(rows));
          return 1;
        }
      }
    }
  }
}
