// How many positions a scaled model reads, and by what its frequencies are divided: transformers 5.24's numbers (its inv_freq of a plain
// model over its inv_freq of the scaled one, and attention_scaling). Whole models of most kinds are golden folders.
#include "engine/models/config/rotary_config.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/base/error.h"

namespace winnow {
namespace {

std::int64_t positions(const std::string& text) {
  const Json document = Json::parse(text);
  return read_rotary(JsonObject(document, "config.json"), 128, 2048).max_positions;
}

// lmsys/longchat-7b-16k and vicuna-7b-v1.5-16k have these keys.
TEST(RotaryConfig, LinearlyScaledPositionsGoAsFarAsTheFileSays) {
  EXPECT_EQ(positions(R"({"rope_scaling": {"type": "linear", "factor": 8.0}, "max_sequence_length": 16384})"), 16'384);
  EXPECT_EQ(positions(R"({"rope_scaling": {"type": "linear", "factor": 8.0}})"), 2048);
  EXPECT_EQ(positions(R"({"rope_scaling": {"type": "linear", "factor": 8.0}, "max_sequence_length": 1024})"), 2048);
  EXPECT_EQ(positions(R"({"max_sequence_length": 16384})"), 2048) << "nothing is scaled";
  EXPECT_THROW(positions(R"({"rope_scaling": {"type": "linear", "factor": 8.0}, "max_sequence_length": "far"})"), Exception);
}

struct ScaledModel {
  const char* name;
  const char* text;
  std::int64_t positions;
  double magnitude;
  std::vector<double> divisors;
};

// Heads of 16 elements.
const std::vector<ScaledModel> kScaledModels = {
    {"Qwen3 as its makers advise, whose file counts 32,768 tokens and an answer of 8,192",
     R"({"max_position_embeddings": 40960, "rope_theta": 1e6,
         "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}})",
     131'072,
     1.138629436111989,
     {1, 1, 1, 1.33333, 2, 4, 4, 4}},
    {"Qwen2.5, in the keys of transformers 4",
     R"({"max_position_embeddings": 32768, "rope_theta": 1e6,
         "rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}})",
     131'072,
     1.138629436111989,
     {1, 1, 1, 1.33333, 2, 4, 4, 4}},
    {"the same saved by transformers 5",
     R"({"max_position_embeddings": 40960, "rope_parameters":
         {"rope_type": "yarn", "rope_theta": 1e6, "factor": 4.0, "original_max_position_embeddings": 32768}})",
     131'072,
     1.138629436111989,
     {1, 1, 1, 1.33333, 2, 4, 4, 4}},
    {"YaRN that does not say what it stretches: the file's length",
     R"({"max_position_embeddings": 40960, "rope_theta": 1e6, "rope_scaling": {"rope_type": "yarn", "factor": 4.0}})",
     163'840,
     1.138629436111989,
     {1, 1, 1, 1, 1.33333, 2, 4, 4}},
    {"the original length beside the rotary part, which counts before the one in it",
     R"({"max_position_embeddings": 40960, "rope_theta": 1e6, "original_max_position_embeddings": 8192,
         "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 999}})",
     40'960,
     1.138629436111989,
     {1, 1, 1, 1.33333, 2, 4, 4, 4}},
    {"DeepSeek's, whose file counts the stretched length",
     R"({"max_position_embeddings": 163840, "rope_theta": 1e4, "rope_scaling": {"rope_type": "yarn", "factor": 40.0,
         "original_max_position_embeddings": 4096, "mscale": 0.707, "mscale_all_dim": 1.0, "beta_fast": 16, "beta_slow": 2}})",
     163'840,
     0.9210423553163399,
     {1, 1, 1, 1, 1.48148, 2.85714, 40, 40}},
    {"bounds that are not cut to whole pairs",
     R"({"max_position_embeddings": 32768, "rope_theta": 1e4, "rope_scaling": {"rope_type": "yarn", "factor": 8.0,
         "original_max_position_embeddings": 4096, "truncate": false, "attention_factor": 1.25}})",
     32'768,
     1.25,
     {1, 1, 1, 1.12488, 1.67137, 3.2505, 8, 8}},
    {"Llama 3.1",
     R"({"max_position_embeddings": 131072, "rope_theta": 5e5, "rope_scaling": {"rope_type": "llama3", "factor": 8.0,
         "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}})",
     131'072,
     1.0,
     {1, 1, 1, 1, 2.69453, 8, 8, 8}},
    {"the same with its original length beside the rotary part",
     R"({"max_position_embeddings": 131072, "rope_theta": 5e5, "original_max_position_embeddings": 4096, "rope_scaling":
         {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}})",
     131'072,
     1.0,
     {1, 1, 1, 1, 8, 8, 8, 8}},
    {"Phi-3, up to where its factors change",
     R"({"max_position_embeddings": 131072, "rope_theta": 1e4, "original_max_position_embeddings": 4096, "rope_scaling":
         {"type": "longrope", "short_factor": [1, 1.05, 1.1, 1.3, 1.6, 2, 2.4, 3], "long_factor": [1, 1.5, 2.5, 4, 8, 16, 30, 60]}})",
     4096,
     1.1902380714238083,
     {1, 1.05, 1.1, 1.3, 1.6, 2, 2.4, 3}},
    {"a factor of its own",
     R"({"max_position_embeddings": 131072, "rope_theta": 1e4, "rope_scaling": {"type": "longrope", "factor": 4.0,
         "short_factor": [1, 1.05, 1.1, 1.3, 1.6, 2, 2.4, 3], "long_factor": [1, 1.5, 2.5, 4, 8, 16, 30, 60],
         "original_max_position_embeddings": 4096}})",
     4096,
     1.0801234497346435,
     {1, 1.05, 1.1, 1.3, 1.6, 2, 2.4, 3}},
    {"dynamic positions, up to where they are stretched",
     R"({"max_position_embeddings": 4096, "rope_theta": 1e4, "rope_scaling": {"type": "dynamic", "factor": 2.0}})",
     4096,
     1.0,
     {}},
};

TEST(RotaryConfig, ScaledModelsHaveTheNumbersOfTransformers) {
  for (const ScaledModel& model : kScaledModels) {
    SCOPED_TRACE(model.name);
    const Json document = Json::parse(model.text);
    const JsonObject text(document, "config.json");
    const std::int64_t told = text.integer("max_position_embeddings", 1, kMaxPositions);
    const RotaryConfig read = read_rotary(text, 16, told);
    EXPECT_EQ(read.max_positions, model.positions);
    EXPECT_EQ(scaled_positions(text, told), model.positions) << "what is told of a model before it is loaded";
    EXPECT_NEAR(read.scheme.magnitude, model.magnitude, 1e-9);
    ASSERT_EQ(read.scheme.divisors.size(), model.divisors.size());
    for (std::size_t pair = 0; pair < model.divisors.size(); ++pair)
      EXPECT_NEAR(read.scheme.divisors[pair], model.divisors[pair], 1e-4 * model.divisors[pair]) << pair;
  }
}

}  // namespace
}  // namespace winnow
