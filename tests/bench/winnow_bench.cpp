// winnow-bench: prefill and decode of a Qwen2-shaped random model, or of a model's own file: full cache and 10 % of it, as the model
// computes, on a CPU also in 16 bits where that is fewer, and all of it in eight.
//
//   winnow-bench [--shape 0.5b|1.5b|7b] [--device cpu|cuda] [--threads N] [--dtype bf16|fp32] [--bits 8|4] [--contexts 2048,8192]
//     prints a table; ratios are within this run
//
//   winnow-bench --kv 32|16|8 ...         of what --serve decodes from and the table's prefill rounds to; without it as the program has it
//
//   winnow-bench --model FILE ...         a GGUF file's matrices stay in their blocks, and --dtype is that of the rest
//
//   winnow-bench --model FOLDER --bits 8  a folder's are packed
//
//   winnow-bench --serve ...              reads "prefill TOKENS", "decode TOKENS RETENTION STEPS [CONVERSATIONS]" and "see FRAMES" (where
//     the model has a tower) from stdin and answers "ms X" (bench/peers)
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "engine/base/stopwatch.h"
#include "engine/device/cuda_plugin.h"
#include "engine/device/processor.h"
#include "engine/model_files/open_package.h"
#include "engine/models/registry.h"
#include "engine/models/weights/block_packing.h"
#include "tests/bench/random_decoder.h"

namespace {

using namespace winnow;

class Bench {
 public:
  Bench(const TextDecoder& decoder, int kv_bits) : decoder_(decoder), storage_(storage_of(kv_bits)) {}

  // Returns ms; the cache afterwards holds the prompt.
  double prefill(std::int64_t tokens, KvCache& cache) const {
    const at::TensorOptions number = at::TensorOptions(decoder_.kv_shape().device).dtype(at::kLong);
    const at::Tensor ids = at::arange(tokens, number).remainder(decoder_.vocabulary());
    const at::Tensor positions = at::arange(tokens, number).unsqueeze(0);
    std::vector<std::int32_t> original(static_cast<std::size_t>(tokens));
    std::iota(original.begin(), original.end(), 0);
    synchronize_device();
    const Stopwatch watch;
    at::Tensor hidden = decoder_.embed(ids);
    for (LayerId layer{0}; layer < decoder_.layers(); ++layer) {
      decoder_.prefill_layer(layer, hidden, positions, original, cache, nullptr, {}, InterruptToken());
    }
    const at::Tensor logits = decoder_.logits(hidden.narrow(0, tokens - 1, 1));
    synchronize_device();
    return watch.elapsed_ms();
  }

  // A prefill whose cache the next decode() of as many tokens takes; ms.
  double fill(std::int64_t tokens) {
    filled_.emplace(shape_in(storage_));
    filled_tokens_ = tokens;
    return prefill(tokens, *filled_);
  }

  std::int64_t filled_bytes() const { return filled_ ? filled_->bytes_in_use() : 0; }

  // Median ms of a step of so many conversations over caches of `tokens` * retention slots per head (every 1/retention-th token), in
  // kv_bits; nothing: as filled.
  double decode(std::int64_t tokens, double retention, int steps, std::optional<int> kv_bits = std::nullopt, int conversations = 1) {
    if (filled_tokens_ != tokens) fill(tokens);
    KvCache cache = kv_bits ? stored_in(*filled_, storage_of(*kv_bits)) : filled_->fork();
    if (retention < 1.0) {
      LayerPlan plan{.budget = static_cast<std::int64_t>(static_cast<double>(tokens) * retention)};
      std::vector<std::int32_t> kept;
      for (std::int64_t i = 0; i < plan.budget; ++i) kept.push_back(static_cast<std::int32_t>(i * tokens / plan.budget));
      plan.kept.assign(static_cast<std::size_t>(decoder_.kv_shape().kv_heads), kept);
      for (LayerId layer{0}; layer < decoder_.layers(); ++layer) cache.compact(layer, tokens, plan);
    }
    std::vector<KvCache> caches;
    for (int i = 0; i < conversations; ++i) caches.push_back(cache.fork());
    std::vector<double> times;
    std::vector<std::int64_t> token(caches.size(), 7);
    for (int step = 0; step < steps; ++step) {
      const std::int64_t position = tokens + step;
      const Stopwatch watch;
      std::vector<StepRow> rows;
      for (std::size_t i = 0; i < caches.size(); ++i)
        rows.push_back({{token[i], position, static_cast<std::int32_t>(position)}, &caches[i]});
      const at::Tensor logits = decoder_.decode_together(rows);
      for (std::size_t i = 0; i < caches.size(); ++i) token[i] = logits[static_cast<std::int64_t>(i)].argmax().item<std::int64_t>();
      times.push_back(watch.elapsed_ms());
    }
    times.erase(times.begin());
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    return times[times.size() / 2];
  }

  KvCache empty_cache() const { return KvCache(shape_in(storage_)); }

 private:
  KvStorage storage_of(int kv_bits) const {
    if (kv_bits == 0) return decoder_.kv_shape().storage;
    if (kv_bits == 8) return KvStorage::kInt8;
    if (kv_bits == 4) return KvStorage::kInt4;
    return kv_bits < 8 * static_cast<int>(at::elementSize(decoder_.kv_shape().dtype)) ? KvStorage::kHalf : KvStorage::kWide;
  }

  KvShape shape_in(KvStorage storage) const {
    KvShape shape = decoder_.kv_shape();
    shape.store_in(storage);
    return shape;
  }

  KvCache stored_in(const KvCache& filled, KvStorage storage) const {
    KvCache stored(shape_in(storage));
    for (LayerId layer{0}; layer < stored.shape().layers; ++layer) {
      for (KvHead head{0}; head < stored.shape().kv_heads; ++head)
        stored.assign(layer, head, filled.gather_keys(layer, head), filled.gather_values(layer, head), filled.original(layer, head));
    }
    return stored;
  }

  const TextDecoder& decoder_;
  KvStorage storage_;  // that prefills fill
  std::optional<KvCache> filled_;
  std::int64_t filled_tokens_ = 0;
};

std::unique_ptr<VisionLanguageModel> load(const std::string& file, at::ScalarType dtype,
                                          const std::shared_ptr<const MatrixPacking>& packing, at::Device device) {
  ModelSource source{.package = open_package(file),
                     .device = device,
                     .plan = {.arithmetic = dtype, .packing = packing, .matrices_as_stored = true, .narrow_cache = device.is_cpu()}};
  return load_model(source);
}

// A clip of so many square frames through tower and projector, from pixels on; ms.
double see(const VisionLanguageModel& model, int frames) {
  constexpr int kSide = 384;
  MediaFacts facts{.kind = MediaKind::kVideo, .picture = {kSide, kSide}, .frames = frames, .duration_s = static_cast<double>(frames)};
  for (int i = 0; i < frames; ++i) facts.times_s.push_back(i);
  const RgbImage empty = {kSide, kSide, std::vector<std::uint8_t>(std::size_t{3} * kSide * kSide)};
  std::vector<RgbImage> pictures(static_cast<std::size_t>(frames), empty);
  unsigned noise = 1;
  for (RgbImage& picture : pictures) {
    for (std::uint8_t& value : picture.rgb) value = static_cast<std::uint8_t>((noise = noise * 1664525U + 1013904223U) >> 24);
  }
  const PixelValues pixels = model.preprocess(facts, pictures);
  const Stopwatch watch;
  const EncodedParts parts = model.encode(facts, pixels, std::nullopt, InterruptToken());
  return watch.elapsed_ms();
}

void serve(Bench& bench, const VisionLanguageModel* model) {
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
    } else if (what == "see" && model != nullptr) {
      ms = see(*model, static_cast<int>(tokens));
    } else {
      double retention = 1.0;
      int steps = 8;
      int conversations = 0;
      words >> retention >> steps >> conversations;
      ms = bench.decode(tokens, retention, steps, std::nullopt, std::max(1, conversations));
    }
    std::printf("ms %.3f\n", ms);
    std::fflush(stdout);
  }
}

double quantile(std::vector<double> of, double share) {
  std::sort(of.begin(), of.end());
  return of[static_cast<std::size_t>(share * static_cast<double>(of.size() - 1) + 0.5)];
}

// All ways forth and back, again and again: a drift of the machine falls on all, and quartiles of the ratios say what its neighbours did.
void print_steps(Bench& bench, std::int64_t tokens, at::Device device) {
  struct Way {
    const char* name;
    int kv_bits;
    double retention;
    std::vector<double> ms{};
  };
  std::vector<Way> ways = {{"full cache", 32, 1.0}, {"10 %", 32, 0.1}};
  if (device.is_cpu())
    ways.insert(ways.end(), {{"16 bits, full", 16, 1.0}, {"16 bits, 10 %", 16, 0.1}, {"8 bits, full", 8, 1.0}, {"4 bits, full", 4, 1.0}});
  const auto measure = [&](Way& way) { way.ms.push_back(bench.decode(tokens, way.retention, 9, way.kv_bits)); };
  for (int round = 0; round < 4; ++round) {
    std::for_each(ways.begin(), ways.end(), measure);
    std::for_each(ways.rbegin(), ways.rend(), measure);
  }
  for (const Way& way : ways) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < way.ms.size(); ++i) ratios.push_back(ways.front().ms[i] / way.ms[i]);
    std::printf("  a step, %-14s %8.2f ms, the full cache takes %.2f (%.2f to %.2f) times as long\n", (std::string(way.name) + ":").c_str(),
                quantile(way.ms, 0.5), quantile(ratios, 0.5), quantile(ratios, 0.25), quantile(ratios, 0.75));
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::int64_t> contexts = {2048, 8192};
  at::ScalarType dtype = at::kBFloat16;
  std::string file;
  std::optional<PackedBits> bits;
  bool serving = false;
  int kv_bits = 0;
  std::string shape = "0.5b";
  at::Device device = at::kCPU;
  set_default_threads();
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const auto value = [&]() -> std::string { return i + 1 < argc ? argv[++i] : ""; };
    if (option == "--avx2") {
      hwy::SetSupportedTargetsForTest(hwy::SupportedTargets() & ~(HWY_AVX3 | HWY_AVX3_DL));
      continue;
    }
    if (option == "--serve") {
      serving = true;
    } else if (option == "--threads") {
      at::set_num_threads(std::max(1, std::atoi(value().c_str())));
    } else if (option == "--model") {
      file = value();
    } else if (option == "--shape") {
      shape = value();
    } else if (option == "--device") {
      device = value() == "cuda" ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU);
    } else if (option == "--dtype") {
      dtype = value() == "fp32" ? at::kFloat : at::kBFloat16;
    } else if (option == "--bits") {
      bits = value() == "8" ? PackedBits::kEight : PackedBits::kFour;
    } else if (option == "--kv") {
      kv_bits = std::atoi(value().c_str());
    } else if (option == "--contexts") {
      contexts.clear();
      std::istringstream list(value());
      for (std::string number; std::getline(list, number, ',');) contexts.push_back(std::atoll(number.c_str()));
    } else {
      std::fprintf(stderr,
                   "usage: winnow-bench [--serve] [--avx2] [--model FILE] [--shape 0.5b|1.5b|7b] [--device cpu|cuda] [--threads N] "
                   "[--dtype bf16|fp32] "
                   "[--bits 8|4] [--kv 32|16|8|4] [--contexts A,B]\n");
      return 2;
    }
  }
  const std::map<std::string, DecoderConfig> shapes = bench::published_shapes();
  if (!shapes.contains(shape)) {
    std::fprintf(stderr, "winnow-bench: no such shape: %s\n", shape.c_str());
    return 2;
  }
  const c10::InferenceMode inference;
  std::unique_ptr<VisionLanguageModel> model;
  std::unique_ptr<const TransformerDecoder> random;
  try {
    if (!device.is_cpu()) open_cuda();
    const auto packing = bits ? std::make_shared<BlockPacking>(*bits, device) : nullptr;
    if (file.empty()) {
      random.reset(new TransformerDecoder(bench::random_decoder(shapes.at(shape), dtype, packing, device)));
    } else {
      model = load(file, dtype, packing, device);
    }
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "winnow-bench: %s\n", problem.what());
    return 1;
  }
  Bench bench(model ? model->text() : *random, kv_bits);
  if (serving) {
    serve(bench, model.get());
    return 0;
  }
  const std::string packed_name = bits ? BlockPacking(*bits, device).name() : "";
  const std::string where = device.is_cpu() ? std::to_string(at::get_num_threads()) + " threads" : open_cuda().name;
  std::printf("%s, %s, %s\n", model ? model->info().name.c_str() : ("Qwen2-" + shape + " shape, random weights").c_str(),
              model ? model->info().dtype.c_str() : plan_name(dtype, packed_name).c_str(), where.c_str());
  for (const std::int64_t tokens : contexts) {
    KvCache warm = bench.empty_cache();
    bench.prefill(std::min<std::int64_t>(tokens, 512), warm);
    const double prefill_ms = bench.fill(tokens);
    std::printf("%6lld tokens: prefill %.0f ms (%.0f tokens/s), cache %.1f MiB\n", static_cast<long long>(tokens), prefill_ms,
                1000.0 * static_cast<double>(tokens) / prefill_ms, static_cast<double>(bench.filled_bytes()) / (1 << 20));
    print_steps(bench, tokens, device);
    std::fflush(stdout);
  }
  return 0;
}
