// The metadata of every GGUF architecture, each value in turn replaced by what it should not be: they become a configuration that a network
// can be built of, or are refused in one sentence, and nothing large is taken on the way.
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/model_files/gguf_architectures.h"
#include "engine/model_files/gguf_config.h"
#include "tests/support/config_exercise.h"
#include "tests/support/new_probe.h"

namespace winnow::test {
namespace {

using Values = GgufMetadata::Values;

constexpr std::uint32_t kGgufSeed = 11;
constexpr std::size_t kMostGgufBlockBytes = 512 << 10;
constexpr std::int64_t kGgufVocabulary = 64;

template <typename Number>
GgufValue number_of(GgufType type, Number value) {
  return {type, false, 1, std::string(reinterpret_cast<const char*>(&value), sizeof value)};
}
GgufValue whole(std::uint32_t value) { return number_of(GgufType::kUint32, value); }
GgufValue broken(float value) { return number_of(GgufType::kFloat32, value); }
GgufValue words_of(std::string text) { return {GgufType::kString, false, 1, std::move(text)}; }
GgufValue wholes(const std::vector<std::int32_t>& values) {
  return {GgufType::kInt32, true, values.size(), {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::int32_t)}};
}

// As converters write them, of a small model.
Values metadata_of(const std::string& architecture) {
  Values values = {
      {"block_count", whole(4)},           {"context_length", whole(512)},        {"embedding_length", whole(64)},
      {"feed_forward_length", whole(96)},  {"attention.head_count", whole(4)},    {"attention.head_count_kv", whole(2)},
      {"attention.key_length", whole(16)}, {"attention.value_length", whole(16)}, {"attention.layer_norm_rms_epsilon", broken(1e-6F)},
      {"rope.freq_base", broken(1e6F)},    {"rope.dimension_count", whole(16)},
  };
  if (architecture == "llama" || architecture == "qwen2") {
    values["rope.scaling.type"] = words_of("yarn");
    values["rope.scaling.factor"] = broken(4.0F);
    values["rope.scaling.original_context_length"] = whole(128);
    values["rope.scaling.yarn_beta_fast"] = broken(32.0F);
    values["rope.scaling.yarn_beta_slow"] = broken(1.0F);
  }
  if (architecture.find("vl") != std::string::npos) values["rope.dimension_sections"] = wholes({2, 3, 3, 0});
  if (architecture.starts_with("qwen35") || architecture == "qwen3next") {
    values["rope.dimension_count"] = whole(4);
    values["ssm.conv_kernel"] = whole(4);
    values["ssm.state_size"] = whole(8);
    values["ssm.group_count"] = whole(2);
    values["ssm.time_step_rank"] = whole(4);
    values["ssm.inner_size"] = whole(32);
    values["full_attention_interval"] = whole(2);
    values["attention.recurrent_layers"] = wholes({1, 0, 1, 0});
    values["nextn_predict_layers"] = whole(0);
  }
  if (architecture.find("moe") != std::string::npos || architecture == "qwen3next" || architecture == "llama") {
    values["expert_count"] = whole(8);
    values["expert_used_count"] = whole(2);
    values["expert_feed_forward_length"] = whole(32);
    if (values.contains("ssm.state_size")) values["expert_shared_feed_forward_length"] = whole(32);
  }
  if (architecture == "gemma3") {
    values["attention.sliding_window"] = whole(32);
    values["attention.sliding_window_pattern"] = whole(2);
    values["rope.freq_base_swa"] = broken(1e4F);
    values["final_logit_softcapping"] = broken(30.0F);
  }
  if (architecture == "gemma4") {
    values["attention.head_count_kv"] = wholes({2, 2, 2, 1});
    values["feed_forward_length"] = wholes({96, 96, 96, 96});
    values["attention.key_length_swa"] = whole(8);
    values["attention.value_length_swa"] = whole(8);
    values["rope.dimension_count_swa"] = whole(8);
    values["attention.sliding_window"] = whole(32);
    values["attention.sliding_window_pattern"] = wholes({1, 1, 1, 0});
    values["attention.shared_kv_layers"] = whole(0);
    values["embedding_length_per_layer_input"] = whole(0);
    values["expert_count"] = whole(8);
    values["expert_used_count"] = whole(2);
    values["expert_feed_forward_length"] = whole(32);
    values["rope.freq_base_swa"] = broken(1e4F);
    values["final_logit_softcapping"] = broken(30.0F);
  }
  if (architecture == "lfm2") {
    values["attention.head_count_kv"] = wholes({0, 2, 0, 2});
    values["shortconv.l_cache"] = whole(3);
  }
  if (architecture == "glm4moe") {
    values["expert_shared_count"] = whole(1);
    values["expert_group_count"] = whole(4);
    values["expert_group_used_count"] = whole(2);
    values["expert_gating_func"] = whole(2);
    values["expert_weights_scale"] = broken(1.5F);
    values["expert_weights_norm"] = number_of(GgufType::kBool, std::uint8_t{1});
  }
  if (architecture.starts_with("glm4")) {
    values["rope.dimension_count"] = whole(8);
    values["rope.dimension_sections"] = wholes({2, 1, 1, 0});
    values["nextn_predict_layers"] = whole(0);
  }
  Values named = {{"general.architecture", words_of(architecture)}, {"tokenizer.ggml.padding_token_id", whole(0)}};
  for (auto& [key, value] : values) named[architecture + "." + key] = std::move(value);
  return named;
}

const std::vector<GgufValue>& wrong_gguf_values() {
  static const std::vector<GgufValue> values = {
      whole(0),
      whole(1),
      whole(7),
      whole(65'537),
      whole(std::numeric_limits<std::uint32_t>::max()),
      number_of(GgufType::kInt32, std::int32_t{-1}),
      number_of(GgufType::kUint64, std::numeric_limits<std::uint64_t>::max()),
      number_of(GgufType::kInt64, std::numeric_limits<std::int64_t>::min()),
      number_of(GgufType::kUint64, std::uint64_t{1} << 39),
      broken(0.5F),
      broken(-1e30F),
      broken(std::numeric_limits<float>::infinity()),
      broken(std::numeric_limits<float>::quiet_NaN()),
      number_of(GgufType::kFloat64, 1e308),
      number_of(GgufType::kFloat64, 1e-320),
      number_of(GgufType::kBool, std::uint8_t{1}),
      words_of(""),
      words_of("another\nline"),
      words_of(std::string(5000, 'x')),
      wholes({}),
      wholes({1, -1}),
      wholes({0, 0, 0, 0}),
      wholes({1, 2, 3, 4}),
      wholes({std::numeric_limits<std::int32_t>::max(), 1, 1, 1}),
      wholes(std::vector<std::int32_t>(3000, 2)),
  };
  return values;
}

// What tensors say beside the metadata.
std::vector<GgufTensorFacts> tensor_facts() {
  constexpr float kEndless = std::numeric_limits<float>::infinity();
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  return {
      {},
      {.embedding_rows = kGgufVocabulary + 8,
       .expert_rows = 32,
       .has_output = true,
       .values_are_keys = true,
       .frequency_factors = {1.0F, 1.0F, 1e30F, 1e30F, 1e30F, 1e30F, 1e30F, 1e30F}},
      {.embedding_rows = most,
       .expert_rows = most,
       .has_output = true,
       .frequency_factors = {1.0F, 4.0F, 8.0F, 8.0F, 8.0F, 8.0F, 8.0F, 8.0F}},
      {.expert_rows = 1, .values_are_keys = true, .frequency_factors = {kEndless, 0.0F, -1.0F, std::numeric_limits<float>::quiet_NaN()}}};
}

class HostileGgufConfig : public ::testing::TestWithParam<std::string> {
 protected:
  bool exercise(const Values& values, const GgufTensorFacts& facts, const std::string& what) {
    test::reset_largest_new();
    bool opened = false;
    try {
      Json config;
      opened = ConfigExercise::opens([&] { config = gguf_config(GgufMetadata("m.gguf", values), facts, kGgufVocabulary); }) &&
               ConfigExercise::run(ConfigExercise::family_of(config.at("model_type").get<std::string>()),
                                   test::DocumentsAlone({{ModelPart::kConfig, config}}));
    } catch (const std::exception& exception) {
      ADD_FAILURE() << GetParam() << ", " << what << ": " << exception.what();
    }
    EXPECT_LE(test::largest_new_bytes(), kMostGgufBlockBytes) << GetParam() << ", " << what;
    return opened;
  }
};

TEST_P(HostileGgufConfig, UnchangedItOpens) { EXPECT_TRUE(exercise(metadata_of(GetParam()), {}, "unchanged")); }

TEST_P(HostileGgufConfig, EachValueInTurnIsWrongOrMissing) {
  const Values right = metadata_of(GetParam());
  int cases = 0;
  int opened = 0;
  for (const GgufTensorFacts& facts : tensor_facts()) {
    for (const auto& [key, value] : right) {
      Values changed = right;
      for (const GgufValue& wrong : wrong_gguf_values()) {
        changed[key] = wrong;
        opened += exercise(changed, facts, key + " is wrong") ? 1 : 0;
        ++cases;
      }
      changed.erase(key);
      exercise(changed, facts, key + " is missing");
    }
  }
  EXPECT_GT(opened, 0) << "some values have others";
  EXPECT_LT(opened, cases);
}

TEST_P(HostileGgufConfig, SeveralValuesAreWrongAtOnce) {
  std::mt19937 random(kGgufSeed);
  const std::vector<GgufTensorFacts> facts = tensor_facts();
  for (int mutation = 0; mutation < 1000; ++mutation) {
    Values changed = metadata_of(GetParam());
    std::string what;
    for (std::size_t changes = 2 + random() % 3; changes > 0; --changes) {
      const auto place = std::next(changed.begin(), static_cast<std::ptrdiff_t>(random() % changed.size()));
      place->second = wrong_gguf_values()[random() % wrong_gguf_values().size()];
      what += place->first + " and ";
    }
    exercise(changed, facts[random() % facts.size()], what + "nothing else is wrong");
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, HostileGgufConfig, ::testing::ValuesIn(known_gguf_architectures()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace winnow::test
