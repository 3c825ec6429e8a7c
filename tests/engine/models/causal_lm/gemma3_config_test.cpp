// Gemma 3's config.json: as it is published, as transformers 5 saves it, and what is refused by name.
#include "engine/models/causal_lm/gemma3_config.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "engine/base/error.h"

namespace winnow::causal_lm_test {
namespace {

// gemma-3-1b-it, without what nobody reads.
Json published() {
  return Json::parse(R"({"architectures": ["Gemma3ForCausalLM"], "attention_bias": false, "attn_logit_softcapping": null,
    "bos_token_id": 2, "eos_token_id": [1, 106], "final_logit_softcapping": null, "head_dim": 256, "hidden_activation": "gelu_pytorch_tanh",
    "hidden_size": 1152, "intermediate_size": 6912, "max_position_embeddings": 32768, "model_type": "gemma3_text",
    "num_attention_heads": 4, "num_hidden_layers": 26, "num_key_value_heads": 1, "query_pre_attn_scalar": 256, "rms_norm_eps": 1e-06,
    "rope_local_base_freq": 10000, "rope_scaling": null, "rope_theta": 1000000, "sliding_window": 512, "sliding_window_pattern": 6,
    "vocab_size": 262144})");
}

DecoderConfig parse(const Json& document) { return parse_gemma3_config(JsonObject(document, "config.json")); }

TEST(Gemma3Config, APublishedFileHasAWindowInFiveOfSixLayers) {
  const DecoderConfig config = parse(published());
  ASSERT_EQ(config.windows.size(), 26U);
  for (std::size_t layer = 0; layer < 26; ++layer) EXPECT_EQ(config.windows[layer], (layer + 1) % 6 == 0 ? 0 : 512) << layer;
  EXPECT_EQ(config.rotary, RotaryScheme{1e6});
  EXPECT_EQ(config.other_rotary, RotaryScheme{1e4});
  EXPECT_EQ(config.norm, NormKind::kCentredRms);
  EXPECT_TRUE(config.query_key_norm);
  EXPECT_TRUE(config.tie_word_embeddings);
  EXPECT_EQ(config.activation, Activation::kGeluTanh);
  EXPECT_EQ(config.attention_scale, 1.0 / 16.0);
  EXPECT_EQ(config.embedding_scale, std::sqrt(1152.0));
  EXPECT_EQ(config.logit_cap, 0.0);
  EXPECT_EQ(config.max_positions, 32'768);
}

// The language half of gemma-3-4b-it says no more than this.
TEST(Gemma3Config, WhatIsLeftOutIsAsItsClassHasIt) {
  const DecoderConfig config =
      parse(Json::parse(R"({"hidden_size": 2560, "intermediate_size": 10240, "model_type": "gemma3_text", "num_hidden_layers": 34,
                            "rope_scaling": {"factor": 8.0, "rope_type": "linear"}, "sliding_window": 1024})"));
  EXPECT_EQ(config.heads, 8);
  EXPECT_EQ(config.kv_heads, 4);
  EXPECT_EQ(config.head_dim, 256);
  EXPECT_EQ(config.vocabulary, 262'208);
  EXPECT_EQ(config.max_positions, 131'072);
  EXPECT_EQ(config.rotary, (RotaryScheme{1e6, {}, std::vector<double>(128, 8.0)}));
  EXPECT_EQ(config.other_rotary, RotaryScheme{1e4}) << "what is scaled are the positions of layers that look far back";
}

TEST(Gemma3Config, PositionsMayBeSaidLayerTypeByLayerType) {
  Json document = published();
  for (const char* key : {"rope_local_base_freq", "rope_scaling", "rope_theta", "sliding_window_pattern"}) document.erase(key);
  document["num_hidden_layers"] = 2;
  document["layer_types"] = {"full_attention", "sliding_attention"};
  document["rope_parameters"] = Json::parse(R"({"full_attention": {"rope_type": "linear", "factor": 2.0, "rope_theta": 5000.0},
                                               "sliding_attention": {"rope_type": "default", "rope_theta": 700.0}})");
  const DecoderConfig config = parse(document);
  const std::vector<std::int64_t> windows = {0, 512};
  EXPECT_EQ(config.windows, windows);
  EXPECT_EQ(config.rotary, (RotaryScheme{5000.0, {}, std::vector<double>(128, 2.0)}));
  EXPECT_EQ(config.other_rotary, RotaryScheme{700.0});
}

TEST(Gemma3Config, WhatCannotBeRunIsRefusedByItsName) {
  const auto refusal = [](const char* key, const Json& value) -> std::pair<ErrorCode, std::string> {
    Json document = published();
    document[key] = value;
    try {
      parse(document);
    } catch (const Exception& error) {
      return {error.error().code, error.error().subject};
    }
    return {ErrorCode::kInternal, "nothing was refused"};
  };
  const auto is = [](ErrorCode code, const char* key) { return std::pair(code, std::string("config.json: ") + key); };
  EXPECT_EQ(refusal("attn_logit_softcapping", 50.0), is(ErrorCode::kUnsupportedModel, "attn_logit_softcapping"));
  EXPECT_EQ(refusal("use_bidirectional_attention", true), is(ErrorCode::kUnsupportedModel, "use_bidirectional_attention"));
  EXPECT_EQ(refusal("hidden_activation", "mish"), is(ErrorCode::kUnsupportedModel, "hidden_activation"));
  EXPECT_EQ(refusal("num_key_value_heads", 3), is(ErrorCode::kDamagedFile, "num_key_value_heads"));
  EXPECT_EQ(refusal("head_dim", 9), is(ErrorCode::kDamagedFile, "head_dim"));
  EXPECT_EQ(refusal("layer_types", {"full_attention"}), is(ErrorCode::kDamagedFile, "layer_types"));
  for (const char* key : {"sliding_window", "sliding_window_pattern", "query_pre_attn_scalar", "final_logit_softcapping", "hidden_size"})
    EXPECT_NE(refusal(key, 0).first, ErrorCode::kInternal) << key;
}

}  // namespace
}  // namespace winnow::causal_lm_test
