// bench_methods: what every compressing preset costs beside the prefill, on a random model of a Qwen2 shape.
//
//   bench_methods [--shape 0.5b|1.5b|7b] [--device cpu|cuda] [--threads N] [--dtype bf16|fp32] [--contexts 2048,8192] [--layers 24]
//                 [--retention 0.2] [--rounds 1] [--steps 0] [--long 32768]
//
// Table 1, per context: time of the statistics and of the event (budgets, selection, merging, moving), their share of the prefill, and
// bytes of K and V: the peak and what is left, as a share of the full cache. One prefill serves all presets, each with its own cache,
// compacted as soon as its plan is ready, as a turn does it: with static budgets after every layer, otherwise after the last one. What
// attention counts on its way is the difference to prefills that count nothing, before and after it, and belongs to the statistics of each
// preset that wants it. For presets that evict while decoding a second line has the median of so many decode steps with the policy, over
// that of the same cache without it. Table 2,
// at --long tokens (0: leave it out): two query heads of a layer on one kv head, the time of each distinct statistic over the time of
// the same heads' attention. Times are the least of the rounds: what else runs on the machine only adds. The prompt is all visual tokens
// but 14 at its start and 50 at its end. Fails if a cache does not hold the granted budgets.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/stopwatch.h"
#include "engine/compression/compression_event.h"
#include "engine/compression/next_decode_policy.h"
#include "engine/compression/segment_compressor.h"
#include "engine/device/cuda_plugin.h"
#include "engine/device/processor.h"
#include "engine/layers/attention.h"
#include "engine/recipes/measured_options.h"
#include "engine/recipes/method_info.h"
#include "tests/bench/random_decoder.h"

namespace {

using namespace winnow;

constexpr std::int64_t kHeadTokens = 14;
constexpr std::int64_t kTailTokens = 50;

struct Settings {
  std::string shape = "0.5b";
  at::Device device = at::kCPU;
  std::vector<std::int64_t> contexts = {2048, 8192};
  std::int64_t layers = 24;
  std::int64_t long_tokens = 32768;
  at::ScalarType dtype = at::kBFloat16;
  double retention = 0.2;
  int rounds = 1;
  int steps = 0;
};

std::vector<Modality> prompt_of(std::int64_t tokens) {
  std::vector<Modality> modality(static_cast<std::size_t>(tokens), Modality::kVisual);
  std::fill_n(modality.begin(), kHeadTokens, Modality::kSystem);
  std::fill_n(modality.rbegin(), kTailTokens, Modality::kText);
  return modality;
}

SegmentInfo segment_of(const std::vector<Modality>& modality, const DecoderConfig& config) {
  return {.tokens = static_cast<std::int64_t>(modality.size()),
          .modality = modality,
          .layers = config.layers,
          .heads = config.heads,
          .kv_heads = config.kv_heads};
}

std::vector<std::int32_t> originals(std::int64_t tokens) {
  std::vector<std::int32_t> original(static_cast<std::size_t>(tokens));
  std::iota(original.begin(), original.end(), 0);
  return original;
}

// One preset's event over one prefill.
struct Run {
  Run(const Recipe& of, const SegmentInfo& segment, const KvShape& shape) : recipe(of), compressor(of, segment), cache(shape) {
    compacted.assign(static_cast<std::size_t>(segment.layers), false);
  }

  void compact_ready(std::int64_t prefilled_layers) {
    const Stopwatch watch;
    for (LayerId layer{0}; layer < prefilled_layers; ++layer) {
      if (compacted[static_cast<std::size_t>(layer)] || !compressor.plan_ready(layer)) continue;
      apply_plan(cache, compressor, layer, state);
      compacted[static_cast<std::size_t>(layer)] = true;
    }
    synchronize_device();
    event_ms += watch.elapsed_ms();
  }

  bool holds_budgets() const {
    for (LayerId layer{0}; layer < cache.shape().layers; ++layer) {
      const std::int64_t budget = compressor.budgets()[static_cast<std::size_t>(layer)];
      for (KvHead head{0}; head < cache.shape().kv_heads; ++head) {
        if (cache.slots(layer, head) > budget + outside_scope()) return false;
      }
    }
    return true;
  }

  std::int64_t outside_scope() const { return recipe.composition().scope == Scope::kVisual ? kHeadTokens + kTailTokens : 0; }

  const Recipe& recipe;
  SegmentCompressor compressor;
  KvCache cache;
  MergeState state;
  std::vector<bool> compacted;
  double event_ms = 0.0;
};

// Shows every layer to all runs and keeps the time that takes, which is not prefill.
class Audience : public PrefillObserver {
 public:
  explicit Audience(std::vector<std::unique_ptr<Run>>& runs) : runs_(runs) {}
  bool wants_views() const override { return true; }
  ReceivedNeed wants_received() const override {
    ReceivedNeed most = ReceivedNeed::kNothing;
    for (const std::unique_ptr<Run>& run : runs_) most = std::max(most, run->compressor.wants_received());
    return most;
  }
  void on_layer(const LayerView& view) override {
    const Stopwatch watch;
    const std::vector<std::int32_t> original = originals(view.key.size(1));
    for (const std::unique_ptr<Run>& run : runs_) {
      run->cache.append(view.layer, view.key, view.value, original);
      if (run->compressor.wants_views()) run->compressor.on_layer(view);
      run->compact_ready(view.layer + 1);
    }
    elapsed_ms += watch.elapsed_ms();
  }
  double elapsed_ms = 0.0;

 private:
  std::vector<std::unique_ptr<Run>>& runs_;
};

// Looks, and counts nothing.
class Onlooker : public PrefillObserver {
 public:
  bool wants_views() const override { return true; }
  void on_layer(const LayerView&) override {}
};

// Lets a policy follow and evict.
class Following : public DecodeObserver {
 public:
  Following(DecodePolicy& policy, KvCache& cache, MergeState& state) : policy_(policy), cache_(cache), state_(state) {}
  bool wants_probabilities() const override { return policy_.wants_probabilities(); }
  void after_layers(LayerId first, std::span<const DecodeRow> rows) override { policy_.after_layers(cache_, first, rows, state_); }

 private:
  DecodePolicy& policy_;
  KvCache& cache_;
  MergeState& state_;
};

// Median ms of a step over a fork of the cache, with a copy of the policy or without.
double step_ms(const TransformerDecoder& decoder, const KvCache& from, const MergeState& state, const DecodePolicy* policy,
               std::int64_t tokens, int steps) {
  KvCache cache = from.fork();
  MergeState own = state;
  const std::unique_ptr<DecodePolicy> following = policy != nullptr ? policy->clone() : nullptr;
  std::vector<double> times;
  for (int step = 0; step < steps; ++step) {
    const std::int64_t position = tokens + step;
    std::optional<Following> observer;
    if (following) observer.emplace(*following, cache, own);
    const Stopwatch watch;
    const at::Tensor logits = decoder.decode({7, position, static_cast<std::int32_t>(position)}, cache, observer ? &*observer : nullptr);
    static_cast<void>(logits.argmax().item<std::int64_t>());
    synchronize_device();
    times.push_back(watch.elapsed_ms());
  }
  std::nth_element(times.begin(), times.begin() + std::ssize(times) / 2, times.end());
  return times[times.size() / 2];
}

struct Method {
  MethodInfo info;
  Recipe recipe;
};

// All presets that compress; why one is left out goes to stderr.
std::vector<Method> methods_of(const Settings& settings) {
  std::vector<Method> methods;
  // As if a model had been measured: what the shares are does not change the work.
  const ShareProfile profile = {{0.5, std::vector<double>(static_cast<std::size_t>(settings.layers), 0.5)}};
  for (const MethodInfo& info : list_methods()) {
    RecipeSpec spec{.method = info.name, .retention = settings.retention};
    spec = with_measured_options(spec, {{kLayerProfileOption, profile_text(profile)}});
    if (const std::optional<Error> problem = recipe_problem(spec)) {
      std::fprintf(stderr, "%s left out: %s\n", info.name.c_str(), problem->reason.c_str());
      continue;
    }
    Recipe recipe = Recipe::from_spec(spec);
    if (!recipe.compresses()) continue;
    if (!recipe.shares_prefill()) {
      std::fprintf(stderr, "%s left out: its prefill is another one\n", info.name.c_str());
      continue;
    }
    methods.push_back({info, std::move(recipe)});
  }
  return methods;
}

double least(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
  return values[values.size() / 2];
}

void measure_context(const TransformerDecoder& decoder, const DecoderConfig& config, const std::vector<Method>& methods,
                     std::int64_t tokens, const Settings& settings) {
  const std::vector<Modality> modality = prompt_of(tokens);
  const SegmentInfo segment = segment_of(modality, config);
  const at::TensorOptions number = at::TensorOptions(decoder.kv_shape().device).dtype(at::kLong);
  const at::Tensor ids = at::arange(tokens, number).remainder(config.vocabulary);
  const at::Tensor positions = at::arange(tokens, number).unsqueeze(0);
  const std::vector<std::int32_t> original = originals(tokens);
  const auto prefill_for = [&](PrefillObserver& observer) {
    KvCache cache(decoder.kv_shape());
    const Stopwatch watch;
    at::Tensor hidden = decoder.embed(ids);
    for (LayerId layer{0}; layer < decoder.layers(); ++layer) {
      decoder.prefill_layer(layer, hidden, positions, original, cache, &observer, {}, InterruptToken());
    }
    synchronize_device();
    return watch.elapsed_ms();
  };
  std::vector<double> prefill_ms;
  std::vector<double> counting_ms;  // more than without, per round
  std::vector<std::vector<double>> statistics_ms(methods.size());
  std::vector<std::vector<double>> event_ms(methods.size());
  std::vector<std::unique_ptr<Run>> runs;
  for (int round = 0; round < settings.rounds; ++round) {
    runs.clear();
    for (const Method& method : methods) runs.push_back(std::make_unique<Run>(method.recipe, segment, decoder.kv_shape()));
    Onlooker onlooker;
    const double before = prefill_for(onlooker);
    Audience audience(runs);
    const double counting = prefill_for(audience) - audience.elapsed_ms;
    const double after = prefill_for(onlooker);
    prefill_ms.push_back(std::min(before, after));
    counting_ms.push_back(counting - (before + after) / 2.0);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      runs[i]->compact_ready(decoder.layers());
      statistics_ms[i].push_back(runs[i]->compressor.statistics_ms());
      event_ms[i].push_back(runs[i]->event_ms);
    }
  }

  const double prefill = least(prefill_ms);
  const double counting = std::max(0.0, median(counting_ms));
  const auto layers = static_cast<double>(decoder.layers());
  const double full = static_cast<double>(decoder.kv_shape().slot_bytes() * config.kv_heads * tokens) * layers;
  std::printf(
      "\n%lld tokens, %lld layers: prefill %.1f ms a layer, %.1f more where attention counts; the rest is per layer too, shares are of "
      "the prefill\n",
      static_cast<long long>(tokens), static_cast<long long>(decoder.layers()), prefill / layers, counting / layers);
  std::printf("%-18s %-8s %13s %9s %13s %9s %8s %8s\n", "method", "budgets", "statistics ms", "event ms", "statistics %", "event %",
              "KV peak", "KV left");
  for (std::size_t i = 0; i < methods.size(); ++i) {
    const Run& run = *runs[i];
    if (!run.holds_budgets()) throw Exception(ErrorCode::kInternal, methods[i].info.name, "the cache holds more than was granted");
    const bool counts = run.compressor.wants_received() != ReceivedNeed::kNothing;
    const double statistics = least(statistics_ms[i]) + (counts ? counting : 0.0);
    const double event = least(event_ms[i]);
    std::printf("%-18s %-8s %13.2f %9.2f %13.2f %9.2f %7.1f%% %7.1f%%\n", methods[i].info.name.c_str(),
                methods[i].recipe.static_budgets() ? "static" : "dynamic", statistics / layers, event / layers,
                100.0 * statistics / prefill, 100.0 * event / prefill, 100.0 * static_cast<double>(run.cache.bytes_peak()) / full,
                100.0 * static_cast<double>(run.cache.bytes_in_use()) / full);
    if (settings.steps < 1) continue;
    const std::unique_ptr<DecodePolicy> policy = next_decode_policy(nullptr, run.recipe, run.compressor, runs[i]->cache);
    if (!policy) continue;
    const auto measure = [&](const DecodePolicy* following) {
      return step_ms(decoder, run.cache, run.state, following, tokens, settings.steps);
    };
    const double before = measure(nullptr);
    const double one = measure(policy.get());
    const double other = measure(policy.get());
    const double after = measure(nullptr);
    std::printf("%-18s a step of %.2f ms takes %.2f times as long while the method follows it\n", "", (before + after) / 2.0,
                (one + other) / (before + after));
  }
  std::fflush(stdout);
}

// Keeps one layer's tensors.
class Keeper : public PrefillObserver {
 public:
  bool wants_views() const override { return true; }
  void on_layer(const LayerView& view) override { seen = view; }
  LayerView seen;
};

double attention_ms(const LayerView& view) {
  const std::int64_t tokens = view.query.size(1);
  const Stopwatch watch;
  for (std::int64_t first = 0; first < tokens; first += TransformerDecoder::kTileRows) {
    const std::int64_t count = std::min(TransformerDecoder::kTileRows, tokens - first);
    prefill_attention(view.query.narrow(1, first, count).transpose(0, 1), view.key, view.value, first, {}, view.scale);
  }
  synchronize_device();
  return watch.elapsed_ms();
}

// What a recipe has computed per layer, as one line; equal for recipes that need the same.
std::string words_of(const StatisticsNeeds& needs) {
  std::string words;
  const auto add = [&](bool wanted, const std::string& word) {
    if (wanted) words += (words.empty() ? "" : ", ") + word;
  };
  for (const StatisticsNeed& need : needs.attention) {
    std::string rows = "post-vision rows";
    if (need.rows.kind == RowRule::Kind::kLast) {
      rows = need.rows == RowRule::all() ? "all rows" : "the last " + std::to_string(need.rows.window) + " rows";
    }
    add(need.column_sums, "column sums of " + rows);
    add(need.column_squares, "column squares of " + rows);
    add(need.head_variance, "variance per head over " + rows);
    add(need.row_entropy, "entropy of " + rows);
    add(need.sparsity_p.has_value(), "sparsity of " + rows);
  }
  add(needs.cross_modal.has_value(), "entropies between modalities");
  add(needs.elite.has_value(), "attention of elite text rows");
  return words;
}

void measure_statistics(const Settings& settings) {
  DecoderConfig config = bench::published_shapes().at(settings.shape);
  config.layers = 1;
  config.heads = 2;
  config.kv_heads = 1;
  config.vocabulary = 1024;
  const TransformerDecoder decoder = bench::random_decoder(config, settings.dtype, nullptr, settings.device);
  Keeper keeper;
  KvCache cache(decoder.kv_shape());
  const at::TensorOptions number = at::TensorOptions(settings.device).dtype(at::kLong);
  at::Tensor hidden = decoder.embed(at::arange(settings.long_tokens, number).remainder(config.vocabulary));
  const at::Tensor positions = at::arange(settings.long_tokens, number).unsqueeze(0);
  decoder.prefill_layer(LayerId(0), hidden, positions, originals(settings.long_tokens), cache, &keeper, {}, InterruptToken());

  Settings one = settings;
  one.layers = 1;
  const std::vector<Modality> modality = prompt_of(settings.long_tokens);
  const SegmentInfo segment = segment_of(modality, config);
  struct Wanted {
    const Recipe* recipe = nullptr;
    std::string presets;
  };
  const std::vector<Method> methods = methods_of(one);
  std::map<std::string, Wanted> statistics;
  for (const Method& method : methods) {
    if (method.recipe.needs().empty()) continue;
    Wanted& wanted = statistics[words_of(method.recipe.needs_for(segment))];
    wanted.recipe = &method.recipe;
    wanted.presets += (wanted.presets.empty() ? "" : ", ") + method.info.name;
  }
  std::printf("\n%lld tokens, two query heads of a layer: statistics over attention\n", static_cast<long long>(settings.long_tokens));
  std::printf("%7s %14s %13s  %s\n", "ratio", "statistics ms", "attention ms", "statistics (presets)");
  double before = attention_ms(keeper.seen);
  for (const auto& [words, wanted] : statistics) {
    std::vector<double> times;
    std::vector<double> attention;
    for (int round = 0; round < settings.rounds; ++round) {
      SegmentCompressor compressor(*wanted.recipe, segment);
      compressor.on_layer(keeper.seen);
      times.push_back(compressor.statistics_ms());
      const double after = attention_ms(keeper.seen);
      attention.push_back((before + after) / 2.0);  // drift of the machine falls on both
      before = after;
    }
    std::printf("%7.4f %14.1f %13.1f  %s (%s)\n", least(times) / least(attention), least(times), least(attention), words.c_str(),
                wanted.presets.c_str());
    std::fflush(stdout);
  }
}

int usage() {
  std::fprintf(
      stderr,
      "usage: bench_methods [--shape 0.5b|1.5b|7b] [--device cpu|cuda] [--threads N] [--dtype bf16|fp32] [--contexts A,B] [--layers N] "
      "[--retention SHARE] [--rounds N] [--steps N] [--long TOKENS]\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  set_default_threads();
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (i + 1 >= argc) return usage();
    const std::string value = argv[++i];
    if (option == "--threads") {
      at::set_num_threads(std::max(1, std::atoi(value.c_str())));
    } else if (option == "--shape") {
      settings.shape = value;
    } else if (option == "--device") {
      settings.device = value == "cuda" ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU);
    } else if (option == "--dtype") {
      settings.dtype = value == "fp32" ? at::kFloat : at::kBFloat16;
    } else if (option == "--contexts") {
      settings.contexts.clear();
      std::istringstream list(value);
      for (std::string number; std::getline(list, number, ',');) settings.contexts.push_back(std::atoll(number.c_str()));
    } else if (option == "--layers") {
      settings.layers = std::max(1, std::atoi(value.c_str()));
    } else if (option == "--retention") {
      settings.retention = std::atof(value.c_str());
    } else if (option == "--rounds") {
      settings.rounds = std::max(1, std::atoi(value.c_str()));
    } else if (option == "--steps") {
      settings.steps = std::atoi(value.c_str());
    } else if (option == "--long") {
      settings.long_tokens = std::atoll(value.c_str());
    } else {
      return usage();
    }
  }
  std::vector<std::int64_t> prompts = settings.contexts;
  if (settings.long_tokens != 0) prompts.push_back(settings.long_tokens);
  const bool fit =
      std::all_of(prompts.begin(), prompts.end(), [](std::int64_t tokens) { return tokens >= 2 * (kHeadTokens + kTailTokens); });
  if (!fit || !bench::published_shapes().contains(settings.shape) || !(settings.retention > 0.0 && settings.retention < 1.0))
    return usage();
  try {
    const c10::InferenceMode inference;
    if (!settings.device.is_cpu()) open_cuda();
    std::string command = "./winnow bench bench_methods";
    for (int i = 1; i < argc; ++i) {
      command += ' ';
      command += *argv[i] == '\0' ? "''" : argv[i];
    }
    const std::string where = settings.device.is_cpu() ? std::to_string(at::get_num_threads()) + " threads" : open_cuda().name;
    std::printf("%s\nQwen2-%s shape, random weights, %s, %s, retention %g\n", command.c_str(), settings.shape.c_str(),
                settings.dtype == at::kFloat ? "fp32" : "bf16", where.c_str(), settings.retention);
    if (!settings.contexts.empty()) {
      DecoderConfig config = bench::published_shapes().at(settings.shape);
      config.layers = settings.layers;
      config.vocabulary = 1024;  // embedding and logits are no part of this
      const TransformerDecoder decoder = bench::random_decoder(config, settings.dtype, nullptr, settings.device);
      const std::vector<Method> methods = methods_of(settings);
      for (const std::int64_t tokens : settings.contexts) measure_context(decoder, config, methods, tokens, settings);
    }
    if (settings.long_tokens > 0) measure_statistics(settings);
    return 0;
  } catch (const Exception& problem) {
    std::fprintf(stderr, "bench_methods: %s: %s\n", problem.error().subject.c_str(), problem.error().reason.c_str());
    return 1;
  }
}
