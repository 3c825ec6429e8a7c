// SmolLM3's config.json: as it is published, what its class knows, and what is refused.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/models/decoder_config.h"
#include "tests/support/expect_error.h"

namespace winnow::causal_lm_test {
namespace {

// SmolLM3-3B, without what nobody reads.
Json smollm3_3b() {
  Json document =
      Json::parse(R"({"architectures": ["SmolLM3ForCausalLM"], "attention_bias": false, "hidden_act": "silu", "hidden_size": 2048,
    "intermediate_size": 11008, "max_position_embeddings": 65536, "max_window_layers": 28, "model_type": "smollm3",
    "no_rope_layer_interval": 4, "num_attention_heads": 16, "num_hidden_layers": 36, "num_key_value_heads": 4, "rms_norm_eps": 1e-06,
    "rope_scaling": null, "rope_theta": 5000000.0, "sliding_window": null, "use_sliding_window": false, "tie_word_embeddings": true,
    "vocab_size": 128256})");
  document["no_rope_layers"] = Json::array();
  for (int layer = 0; layer < 36; ++layer) document["no_rope_layers"].push_back(layer % 4 == 3 ? 0 : 1);
  return document;
}

DecoderConfig parse_smollm3(const Json& document) { return parse_decoder_config(JsonObject(document, "config.json"), "llama"); }

void expect_list_refused(const Json& list) {
  Json document = smollm3_3b();
  document["no_rope_layers"] = list;
  test::expect_error(ErrorCode::kDamagedFile, "no_rope_layers", [&] { parse_smollm3(document); });
}

TEST(SmolLm3Config, EveryFourthLayerOfThePublishedFileDoesNotRotate) {
  const DecoderConfig config = parse_smollm3(smollm3_3b());
  ASSERT_EQ(config.rotated_otherwise.size(), 36U);
  for (std::size_t layer = 0; layer < 36; ++layer) EXPECT_EQ(config.rotated_otherwise[layer], layer % 4 == 3) << layer;
  EXPECT_EQ(config.rotary, RotaryScheme{5e6});
  EXPECT_EQ(config.other_rotary, RotaryScheme{0.0});
  EXPECT_TRUE(config.windows.empty());
  EXPECT_FALSE(config.query_key_norm);
  EXPECT_EQ(config.max_positions, 65'536);
}

TEST(SmolLm3Config, TheListCountsAndTheIntervalWhereThereIsNone) {
  Json document = smollm3_3b();
  document["no_rope_layers"][0] = 0;
  EXPECT_TRUE(parse_smollm3(document).rotated_otherwise[0]);
  document.erase("no_rope_layers");
  document["no_rope_layer_interval"] = 3;
  const std::vector<bool> unrotated = parse_smollm3(document).rotated_otherwise;
  for (std::size_t layer = 0; layer < unrotated.size(); ++layer) EXPECT_EQ(unrotated[layer], layer % 3 == 2) << layer;
}

TEST(SmolLm3Config, WithAWindowTheLayersThatDoNotRotateLookBackOverIt) {
  Json document = smollm3_3b();
  document["use_sliding_window"] = true;
  document["sliding_window"] = 4096;
  const DecoderConfig config = parse_smollm3(document);
  ASSERT_EQ(config.windows.size(), 36U);
  for (std::size_t layer = 0; layer < 36; ++layer) EXPECT_EQ(config.windows[layer], layer % 4 == 3 ? 4096 : 0) << layer;
}

TEST(SmolLm3Config, WhatIsLeftOutIsAsItsClassHasIt) {
  const DecoderConfig config = parse_smollm3(Json{{"model_type", "smollm3"}});
  EXPECT_EQ(config.layers, 36);
  EXPECT_EQ(config.heads, 16);
  EXPECT_EQ(config.kv_heads, 4);
  EXPECT_EQ(config.vocabulary, 128'256);
  EXPECT_TRUE(config.tie_word_embeddings);
  EXPECT_EQ(config.rotary, RotaryScheme{2e6});
}

TEST(SmolLm3Config, AListThatIsTooShortOrHoldsAnythingElseIsRefused) {
  expect_list_refused(Json::array({1, 1, 1, 0}));
  expect_list_refused(Json(std::vector<int>(36, 2)));
  expect_list_refused("all");
}

}  // namespace
}  // namespace winnow::causal_lm_test
