#include "engine/models/lfm2/lfm2_text_config.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/expect_error.h"

namespace winnow::lfm2_text_test {
namespace {

using test::expect_error;

// As LiquidAI/LFM2-1.2B publishes it.
Json published() {
  return Json::parse(R"({
    "architectures": ["Lfm2ForCausalLM"], "block_auto_adjust_ff_dim": true, "block_dim": 2048, "block_ff_dim": 12288,
    "block_ffn_dim_multiplier": 1.0, "block_mlp_init_scale": 1.0, "block_multiple_of": 256, "block_norm_eps": 1e-05,
    "block_out_init_scale": 1.0, "block_use_swiglu": true, "block_use_xavier_init": true, "bos_token_id": 1, "conv_L_cache": 3,
    "conv_bias": false, "conv_dim": 2048, "conv_dim_out": 2048, "conv_use_xavier_init": true, "eos_token_id": 7,
    "full_attn_idxs": [2, 5, 8, 10, 12, 14], "hidden_size": 2048, "initializer_range": 0.02, "max_position_embeddings": 128000,
    "model_type": "lfm2", "norm_eps": 1e-05, "num_attention_heads": 32, "num_heads": 32, "num_hidden_layers": 16,
    "num_key_value_heads": 8, "pad_token_id": 0, "rope_theta": 1000000.0, "tie_embedding": true, "use_cache": true,
    "use_pos_enc": true, "vocab_size": 65536})");
}

DecoderConfig parse(const Json& document) { return parse_lfm2_config(JsonObject(document, "config.json")); }

TEST(Lfm2TextConfig, ReadsAPublishedFile) {
  const DecoderConfig config = parse(published());
  EXPECT_EQ(config.intermediate_size, 8192);
  EXPECT_EQ(config.head_dim, 64);
  EXPECT_EQ(std::ranges::count(config.recurrent, true), 10);
  EXPECT_FALSE(config.recurrent[14]);
  EXPECT_TRUE(config.recurrent[15]);
  EXPECT_EQ(config.short_conv->kernel, 3);
  EXPECT_FALSE(config.short_conv->biased);
  EXPECT_EQ(config.state(), (StateShape{0, 0, 0, 2, 2048}));
  EXPECT_EQ(config.rotary, RotaryScheme{1e6});
  EXPECT_TRUE(config.tie_word_embeddings);
}

// Lfm2MLP cuts two thirds, and then the product, to whole numbers before it rounds up.
TEST(Lfm2TextConfig, TheMlpIsAsLargeAsItsClassMakesIt) {
  Json document = published();
  document["block_ff_dim"] = 100;
  document["block_ffn_dim_multiplier"] = 1.3;
  document["block_multiple_of"] = 1;
  EXPECT_EQ(parse(document).intermediate_size, 85);
  document["block_multiple_of"] = 32;
  EXPECT_EQ(parse(document).intermediate_size, 96);
  document["block_ffn_dim_multiplier"] = nullptr;
  EXPECT_EQ(parse(document).intermediate_size, 66);
  document["block_auto_adjust_ff_dim"] = false;
  EXPECT_EQ(parse(document).intermediate_size, 100);
  document.erase("block_ff_dim");
  document["intermediate_size"] = 77;
  EXPECT_EQ(parse(document).intermediate_size, 77);
}

TEST(Lfm2TextConfig, TakesLayerTypesBeforeIndices) {
  Json document = published();
  document["num_hidden_layers"] = 3;
  document["full_attn_idxs"] = {2};
  EXPECT_EQ(parse(document).recurrent, (std::vector<bool>{true, true, false}));
  document["layer_types"] = {"full_attention", "conv", "full_attention"};
  EXPECT_EQ(parse(document).recurrent, (std::vector<bool>{false, true, false}));
  document.erase("layer_types");
  document.erase("full_attn_idxs");
  EXPECT_TRUE(parse(document).recurrent.empty()) << "all attend";
}

TEST(Lfm2TextConfig, RefusesWhatCannotBe) {
  const auto expect = [](const char* key, const Json& value, ErrorCode code, const char* subject = nullptr) {
    SCOPED_TRACE(key);
    Json document = published();
    document[key] = value;
    expect_error(code, subject != nullptr ? subject : key, [&] { parse(document); });
  };
  expect("model_type", "lfm2_moe", ErrorCode::kUnsupportedModel);
  expect("full_attn_idxs", Json::array({2, 16}), ErrorCode::kLimitExceeded);
  expect("full_attn_idxs", Json::array({-1}), ErrorCode::kDamagedFile);
  expect("full_attn_idxs", Json::array(), ErrorCode::kUnsupportedModel);
  expect("layer_types", Json::array({"conv"}), ErrorCode::kDamagedFile);
  expect("layer_types", Json(std::vector<std::string>(16, "conv")), ErrorCode::kUnsupportedModel);
  expect("layer_types", Json(std::vector<std::string>(16, "linear_attention")), ErrorCode::kUnsupportedModel);
  expect("conv_L_cache", 1, ErrorCode::kDamagedFile);
  expect("conv_L_cache", 1 << 20, ErrorCode::kLimitExceeded);
  expect("conv_bias", "yes", ErrorCode::kDamagedFile);
  expect("block_ff_dim", 1, ErrorCode::kDamagedFile);
  expect("block_ffn_dim_multiplier", 0.0, ErrorCode::kDamagedFile, "block_ff_dim");
  expect("block_ffn_dim_multiplier", 1000.0, ErrorCode::kDamagedFile, "block_ff_dim");
  expect("block_multiple_of", 0, ErrorCode::kDamagedFile);
  expect("num_key_value_heads", 5, ErrorCode::kDamagedFile);
  expect("vocab_size", nullptr, ErrorCode::kDamagedFile);
}

}  // namespace
}  // namespace winnow::lfm2_text_test
