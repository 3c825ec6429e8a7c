// Against a dense derivation of the published methods that shares nothing with the engine: tests/golden/methods, rebuilt by
// tests/golden/make/make_methods_golden.py. Its manifest lists every difference from public code.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/compression/compression_event.h"
#include "engine/compression/segment_compressor.h"
#include "tests/engine/compression/layer_fixture.h"
#include "tests/support/golden_tensors.h"
#include "tests/support/kv_shape.h"
#include "tests/support/source_folder.h"

namespace winnow {
namespace {

using test_support::GoldenTensors;

const std::string kGoldenMethods = source_folder() + "/tests/golden/methods";
constexpr const char* kRebuild = "; rebuild with tests/golden/make/make_methods_golden.py";
constexpr double kMerged = 1e-5;

struct Layers {
  at::Tensor query, key, value;  // [layers, heads, n, d]
  std::vector<Modality> modality;

  Layers(const GoldenTensors& golden, const std::string& name)
      : query(golden.load(name + ".query")), key(golden.load(name + ".key")), value(golden.load(name + ".value")) {
    const at::Tensor kinds = golden.load(name + ".modality");
    for (std::int64_t i = 0; i < kinds.size(0); ++i) modality.push_back(static_cast<Modality>(kinds[i].item<int>()));
  }

  LayerView view(LayerId layer) const {
    LayerView view;
    view.layer = layer;
    view.query = query[layer];
    view.key = key[layer];
    view.value = value[layer];
    view.scale = 1.0 / std::sqrt(static_cast<double>(query.size(3)));
    testing::set_log_sum_exp(view);
    return view;
  }
};

RecipeSpec spec_of(const Json& given) {
  RecipeSpec spec{.method = given["method"], .seed = given["seed"]};
  if (given.contains("retention")) spec.retention = given["retention"];
  if (given.contains("budget_tokens")) spec.budget_tokens = given["budget_tokens"].get<int>();
  for (const auto& [name, value] : given["options"].items()) spec.options[name] = value;
  spec.min_event_tokens = 0;
  return spec;
}

KvCache filled_cache(const Layers& layers) {
  KvShape shape = test_support::kv_shape(layers.key.size(0), layers.key.size(1), layers.key.size(3));
  KvCache cache(shape);
  std::vector<std::int32_t> original(layers.modality.size());
  std::iota(original.begin(), original.end(), 0);
  for (LayerId layer{0}; layer < shape.layers; ++layer) cache.append(layer, layers.key[layer], layers.value[layer], original);
  return cache;
}

std::vector<std::int32_t> numbers(const at::Tensor& values) {
  const at::Tensor whole = values.contiguous();
  return {whole.const_data_ptr<std::int32_t>(), whole.const_data_ptr<std::int32_t>() + whole.numel()};
}

class GoldenMethods : public ::testing::TestWithParam<Json> {};

TEST_P(GoldenMethods, KeepAndMergeTheSame) {
  const c10::InferenceMode inference;
  const Json& entry = GetParam();
  const std::string name = entry["name"];
  const GoldenTensors golden(kGoldenMethods + "/golden.safetensors");
  const Layers layers(golden, entry["input"]);
  const std::int64_t layer_count = layers.query.size(0);
  const std::int64_t kv_heads = layers.key.size(1);
  const Recipe recipe = Recipe::from_spec(spec_of(entry["spec"]));
  KvCache cache = filled_cache(layers);
  SegmentCompressor compressor(recipe, testing::segment_of(layers.modality, layer_count, layers.query.size(1), kv_heads));
  if (compressor.wants_views()) {
    for (LayerId layer{0}; layer < layer_count; ++layer) compressor.on_layer(layers.view(layer));
  }
  MergeState state;
  if (compressor.will_compress()) {
    for (LayerId layer{0}; layer < layer_count; ++layer) apply_plan(cache, compressor, layer, state);
  }

  const std::vector<std::int32_t> counts = numbers(golden.load(name + ".counts"));
  const std::vector<std::int32_t> kept = numbers(golden.load(name + ".kept"));
  ASSERT_EQ(static_cast<std::int64_t>(counts.size()), layer_count * kv_heads);
  std::int64_t first = 0;
  for (std::int64_t at = 0; at < layer_count * kv_heads; ++at) {
    const LayerId layer{at / kv_heads};
    const KvHead head{at % kv_heads};
    SCOPED_TRACE("layer " + std::to_string(layer) + ", kv head " + std::to_string(head) + kRebuild);
    const std::int64_t count = counts[static_cast<std::size_t>(at)];
    const std::vector<std::int32_t> expected(kept.begin() + first, kept.begin() + first + count);
    const std::span<const std::int32_t> actual = cache.original(layer, head);
    ASSERT_EQ(std::vector<std::int32_t>(actual.begin(), actual.end()), expected);

    const at::Tensor rows = at::tensor(std::vector<std::int64_t>(expected.begin(), expected.end()));
    const auto compare = [&](const char* part, const at::Tensor& before, const at::Tensor& now) {
      if (golden.has(name + part)) {
        EXPECT_LE((now - golden.load(name + part).narrow(0, first, count)).abs().max().item<double>(), kMerged) << part;
      } else {
        EXPECT_TRUE(at::equal(now, before.index_select(0, rows))) << part << " that nothing was merged into";
      }
    };
    compare(".keys", layers.key[layer][head], cache.gather_keys(layer, head));
    compare(".values", layers.value[layer][head], cache.gather_values(layer, head));
    first += count;
  }
  EXPECT_EQ(first, static_cast<std::int64_t>(kept.size()));
}

std::vector<Json> golden_cases() {
  const Json cases = load_json(kGoldenMethods + "/cases.json");
  return {cases.begin(), cases.end()};
}

INSTANTIATE_TEST_SUITE_P(Cases, GoldenMethods, ::testing::ValuesIn(golden_cases()),
                         [](const ::testing::TestParamInfo<Json>& info) { return info.param["name"].get<std::string>(); });

TEST(GoldenMethodsManifest, NamesEveryDifferenceAndCoversEveryMethod) {
  const Json manifest = load_json(kGoldenMethods + "/manifest.json");
  std::set<std::string> methods;
  std::set<std::string> used;
  for (const Json& entry : golden_cases()) {
    methods.insert(entry["spec"]["method"].get<std::string>());
    for (const Json& difference : entry["differences"]) {
      EXPECT_TRUE(manifest["differences"].contains(difference.get<std::string>())) << difference;
      used.insert(difference.get<std::string>());
    }
  }
  for (const auto& [difference, text] : manifest["differences"].items()) {
    EXPECT_TRUE(used.contains(difference)) << difference << " is never met";
  }
  for (const char* method : {"snapkv", "pyramidkv", "streaming-llm", "h2o", "cam", "cam-expected", "look-m", "look-m-average",
                             "look-m-weighted", "meda", "aircache", "prefixkv"}) {
    EXPECT_TRUE(methods.contains(method)) << method;
  }
}

}  // namespace
}  // namespace winnow
