// winnow-bench: prefill and decode of a Qwen2-0.5B-shaped random model on the CPU, or of a model's own file: full cache, 10 % of it,
// and all of it in eight bits.
//
//   winnow-bench [--threads N] [--dtype bf16|fp32] [--bits 8|4] [--contexts 2048,8192]      prints a table; ratios are within this run
//   winnow-bench --model FILE ...   a GGUF file's matrices stay in their blocks, and --dtype is that of the rest
//   winnow-bench --model FOLDER --bits 8 ...     a folder's are packed
//   winnow-bench --serve ...        reads "prefill TOKENS" and "decode TOKENS RETENTION STEPS" from stdin and answers "ms X" (bench/peers)
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "engine/base/stopwatch.h"
#include "engine/device/cpu_threads.h"
#include "engine/model_files/open_package.h"
#include "engine/models/block_packing.h"
#include "engine/models/registry.h"
#include "tests/bench/random_decoder.h"

namespace {

using namespace winnow;

class Bench {
 public:
  explicit Bench(const TextDecoder& decoder) : decoder_(decoder) {}

  // Returns ms; the cache afterwards holds the prompt.
  double prefill(std::int64_t tokens, KvCache& cache) const {
    const at::Tensor ids = at::arange(tokens, at::kLong).remainder(decoder_.vocabulary());
    const at::Tensor positions = at::arange(tokens, at::kLong).unsqueeze(0);
    std::vector<std::int32_t> original(static_cast<std::size_t>(tokens));
    std::iota(original.begin(), original.end(), 0);
    const Stopwatch watch;
    at::Tensor hidden = decoder_.embed(ids);
    for (LayerId layer{0}; layer < decoder_.layers(); ++layer) {
      decoder_.prefill_layer(layer, hidden, positions, original, cache, nullptr, {}, InterruptToken());
    }
    const at::Tensor logits = decoder_.logits(hidden.narrow(0, tokens - 1, 1));
    return watch.elapsed_ms();
  }

  // A prefill whose cache the next decode() of as many tokens takes; ms.
  double fill(std::int64_t tokens) {
    filled_.emplace(decoder_.kv_shape());
    filled_tokens_ = tokens;
    return prefill(tokens, *filled_);
  }

  std::int64_t filled_bytes() const { return filled_ ? filled_->bytes_in_use() : 0; }

  // Median ms of a step over a cache of `tokens` * retention slots per head (every 1/retention-th token).
  double decode(std::int64_t tokens, double retention, int steps, KvStorage storage = KvStorage::kWide) {
    if (filled_tokens_ != tokens) fill(tokens);
    KvCache cache = storage == KvStorage::kWide ? filled_->fork() : in_eight_bits(*filled_);
    if (retention < 1.0) {
      LayerPlan plan;
      plan.budget = static_cast<std::int64_t>(static_cast<double>(tokens) * retention);
      std::vector<std::int32_t> kept;
      for (std::int64_t i = 0; i < plan.budget; ++i) kept.push_back(static_cast<std::int32_t>(i * tokens / plan.budget));
      plan.kept.assign(static_cast<std::size_t>(decoder_.kv_shape().kv_heads), kept);
      for (LayerId layer{0}; layer < decoder_.layers(); ++layer) cache.compact(layer, tokens, plan);
    }
    std::vector<double> times;
    std::int64_t token = 7;
    for (int step = 0; step < steps; ++step) {
      const std::int64_t position = tokens + step;
      const Stopwatch watch;
      const at::Tensor logits = decoder_.decode({token, position, static_cast<std::int32_t>(position)}, cache, nullptr);
      token = logits.argmax().item<std::int64_t>();
      times.push_back(watch.elapsed_ms());
    }
    times.erase(times.begin());
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    return times[times.size() / 2];
  }

  KvCache empty_cache() const { return KvCache(decoder_.kv_shape()); }

 private:
  static KvCache in_eight_bits(const KvCache& wide) {
    KvShape shape = wide.shape();
    shape.storage = KvStorage::kInt8;
    KvCache narrow(shape);
    for (LayerId layer{0}; layer < shape.layers; ++layer) {
      for (KvHead head{0}; head < shape.kv_heads; ++head)
        narrow.assign(layer, head, wide.gather_keys(layer, head), wide.gather_values(layer, head), wide.original(layer, head));
    }
    return narrow;
  }

  const TextDecoder& decoder_;
  std::optional<KvCache> filled_;
  std::int64_t filled_tokens_ = 0;
};

std::unique_ptr<VisionLanguageModel> load(const std::string& file, at::ScalarType dtype,
                                          const std::shared_ptr<const MatrixPacking>& packing) {
  ModelSource source;
  source.package = open_package(file);
  source.plan.arithmetic = dtype;
  source.plan.packing = packing;
  source.plan.matrices_as_stored = true;
  return load_model(source);
}

void serve(Bench& bench) {
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string what;
    std::int64_t tokens = 0;
    words >> what >> tokens;
    double ms = 0.0;
    if (what == "prefill") {
      KvCache cache = bench.empty_cache();
      ms = bench.prefill(tokens, cache);
    } else {
      double retention = 1.0;
      int steps = 8;
      words >> retention >> steps;
      ms = bench.decode(tokens, retention, steps);
    }
    std::printf("ms %.3f\n", ms);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::int64_t> contexts = {2048, 8192};
  at::ScalarType dtype = at::kBFloat16;
  std::string file;
  std::shared_ptr<const MatrixPacking> packing;
  bool serving = false;
  set_default_threads();
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const auto value = [&]() -> std::string { return i + 1 < argc ? argv[++i] : ""; };
    if (option == "--serve") {
      serving = true;
    } else if (option == "--threads") {
      at::set_num_threads(std::max(1, std::atoi(value().c_str())));
    } else if (option == "--model") {
      file = value();
    } else if (option == "--dtype") {
      dtype = value() == "fp32" ? at::kFloat : at::kBFloat16;
    } else if (option == "--bits") {
      packing = std::make_shared<BlockPacking>(value() == "8" ? PackedBits::kEight : PackedBits::kFour);
    } else if (option == "--contexts") {
      contexts.clear();
      std::istringstream list(value());
      for (std::string number; std::getline(list, number, ',');) contexts.push_back(std::atoll(number.c_str()));
    } else {
      std::fprintf(stderr,
                   "usage: winnow-bench [--serve] [--model FILE] [--threads N] [--dtype bf16|fp32] [--bits 8|4] [--contexts A,B]\n");
      return 2;
    }
  }
  const c10::InferenceMode inference;
  std::unique_ptr<VisionLanguageModel> model;
  std::optional<TransformerDecoder> random;
  if (file.empty()) {
    random.emplace(bench::random_decoder(bench::half_billion_shape(), dtype, packing));
  } else {
    model = load(file, dtype, packing);
  }
  Bench bench(model ? model->text() : *random);
  if (serving) {
    serve(bench);
    return 0;
  }
  std::printf("%s, %s, %d threads\n", model ? model->info().name.c_str() : "Qwen2-0.5B shape, random weights",
              model ? model->info().dtype.c_str() : plan_name(dtype, packing ? packing->name() : "").c_str(), at::get_num_threads());
  for (const std::int64_t tokens : contexts) {
    KvCache warm = bench.empty_cache();
    bench.prefill(std::min<std::int64_t>(tokens, 512), warm);
    const double prefill_ms = bench.fill(tokens);
    // Full, tenth, narrow, narrow, tenth, full: drift of the machine falls on all.
    double full = 0.0, tenth = 0.0, narrow = 0.0;
    for (const bool forth : {true, false}) {
      if (forth) full += bench.decode(tokens, 1.0, 17) / 2.0;
      if (forth) tenth += bench.decode(tokens, 0.1, 17) / 2.0;
      narrow += bench.decode(tokens, 1.0, 17, KvStorage::kInt8) / 2.0;
      if (!forth) tenth += bench.decode(tokens, 0.1, 17) / 2.0;
      if (!forth) full += bench.decode(tokens, 1.0, 17) / 2.0;
    }
    std::printf(
        "%6lld tokens: prefill %.0f ms (%.0f tokens/s); decode %.2f ms full cache, %.2f ms at 10 %%: ratio %.2f; %.2f ms in 8 bits: ratio "
        "%.2f; KV %.1f MiB full\n",
        static_cast<long long>(tokens), prefill_ms, 1000.0 * static_cast<double>(tokens) / prefill_ms, full, tenth, full / tenth, narrow,
        full / narrow, static_cast<double>(bench.filled_bytes()) / (1 << 20));
    std::fflush(stdout);
  }
  return 0;
}
