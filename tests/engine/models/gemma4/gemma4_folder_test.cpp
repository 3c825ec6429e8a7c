// What a Gemma 4 says about itself: as it is published, as transformers saves it, and what is refused by name.
#include "engine/models/gemma4/gemma4_folder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "engine/models/gemma4/gemma4_text_config.h"
#include "tests/support/expect_error.h"

namespace winnow::gemma4_test {
namespace {

using test::expect_error;

// As a folder of E2B's shape has it, without what nobody reads.
Json published() {
  Json document = Json::parse(R"({"architectures": ["Gemma4ForConditionalGeneration"], "audio_config": {"model_type": "gemma4_audio"},
    "image_token_id": 258880, "video_token_id": 258884, "model_type": "gemma4", "tie_word_embeddings": true,
    "text_config": {"attention_k_eq_v": false, "enable_moe_block": false, "eos_token_id": 1, "final_logit_softcapping": 30.0,
      "global_head_dim": 512, "head_dim": 256, "hidden_activation": "gelu_pytorch_tanh", "hidden_size": 1536,
      "hidden_size_per_layer_input": 256, "intermediate_size": 6144, "max_position_embeddings": 131072, "model_type": "gemma4_text",
      "num_attention_heads": 8, "num_global_key_value_heads": null, "num_hidden_layers": 35, "num_key_value_heads": 1,
      "num_kv_shared_layers": 20, "pad_token_id": 0, "rms_norm_eps": 1e-06, "sliding_window": 512, "use_bidirectional_attention": null,
      "rope_parameters": {"full_attention": {"partial_rotary_factor": 0.25, "rope_theta": 1000000.0, "rope_type": "proportional"},
                          "sliding_attention": {"rope_theta": 10000.0, "rope_type": "default"}},
      "use_double_wide_mlp": true, "vocab_size": 262144, "vocab_size_per_layer_input": 262144},
    "vision_config": {"head_dim": 64, "hidden_size": 768, "intermediate_size": 3072, "model_type": "gemma4_vision",
      "num_attention_heads": 12, "num_hidden_layers": 16, "num_key_value_heads": 12, "patch_size": 16, "pooling_kernel_size": 3,
      "position_embedding_size": 10240, "rms_norm_eps": 1e-06, "rope_parameters": {"rope_theta": 100.0, "rope_type": "axial"},
      "standardize": false, "use_clipped_linears": true}})");
  Json types = Json::array();
  for (int layer = 0; layer < 35; ++layer) types.push_back(layer % 5 == 4 ? "full_attention" : "sliding_attention");
  document["text_config"]["layer_types"] = types;
  return document;
}

Gemma4Config parse(const Json& document) { return parse_gemma4_vision_config(document, "config.json"); }
SoftTokenRules parse_rules(const char* text) {
  const Json document = Json::parse(text);
  return parse_soft_token_rules(JsonObject(document, "processor_config.json"), {});
}

Json with(const char* pointer, const char* value) {
  Json document = published();
  document[Json::json_pointer(pointer)] = Json::parse(value);
  return document;
}

void expect_refused(ErrorCode code, const char* pointer, const char* value, const char* subject) {
  expect_error(code, subject, [&] { parse(with(pointer, value)); });
}

TEST(Gemma4Folder, ReadsWhatIsPublished) {
  const Gemma4Config config = parse(published());
  const DecoderConfig& text = config.text;
  EXPECT_EQ(text.layers, 35);
  EXPECT_EQ(text.borrowing_layers, 20);
  EXPECT_EQ(text.borrowing_intermediate_size, 12'288);
  EXPECT_EQ(text.head_dim, 512);
  EXPECT_EQ(text.other_head_dim, 256);
  EXPECT_EQ(text.attention_scale, 1.0);
  EXPECT_EQ(text.embedding_scale, std::sqrt(1536.0));
  EXPECT_EQ(text.logit_cap, 30.0);
  ASSERT_EQ(text.windows.size(), 15U) << "of layers with slots";
  for (std::size_t layer = 0; layer < 15; ++layer) EXPECT_EQ(text.windows[layer], layer % 5 == 4 ? 0 : 512) << layer;
  ASSERT_TRUE(text.layer_inputs);
  EXPECT_EQ(text.layer_inputs->size, 256);
  EXPECT_EQ(text.other_rotary, (RotaryScheme{1e4, {}, {}, 1.0, 256}));
  ASSERT_EQ(text.rotary.divisors.size(), 256U) << "a quarter of a head rotates";
  EXPECT_EQ(text.rotary.divisors[63], 1.0);
  EXPECT_EQ(text.rotary.divisors[64], std::numeric_limits<double>::infinity());
  EXPECT_TRUE(config.vision.clipped);
  EXPECT_EQ(config.vision.theta, 100.0);
  EXPECT_EQ(config.video_token_id, 258'884);
}

TEST(Gemma4Folder, ReadsWhatTransformersSavesOfLayersThatDiffer) {
  Json document = published();
  Json& text = document["text_config"];
  text.erase("global_head_dim");
  for (int layer = 4; layer < 35; layer += 5) text["per_layer_config"][std::to_string(layer)] = {{"head_dim", 320}};
  EXPECT_EQ(parse(document).text.head_dim, 320);
  text["per_layer_config"]["9"] = {{"head_dim", 300}};
  expect_error(ErrorCode::kUnsupportedModel, "per_layer_config", [&] { parse(document); });
  text["per_layer_config"]["9"] = {{"head_dim", 320}, {"num_key_value_heads", 2}};
  expect_error(ErrorCode::kUnsupportedModel, "num_key_value_heads", [&] { parse(document); });
}

TEST(Gemma4Folder, TheLastLayerLooksBackOverEverything) {
  const DecoderConfig text = parse(with("/text_config/layer_types/34", R"("sliding_attention")")).text;
  EXPECT_FALSE(text.rotated_otherwise.back());
}

// 26B-A4B and 31B, which are more than their configurations say of the smaller ones.
TEST(Gemma4Folder, WhatIsNotReadIsRefusedByName) {
  expect_refused(ErrorCode::kUnsupportedModel, "/text_config/enable_moe_block", "true", "text_config.enable_moe_block");
  expect_refused(ErrorCode::kUnsupportedModel, "/text_config/attention_k_eq_v", "true", "text_config.attention_k_eq_v");
  expect_refused(ErrorCode::kUnsupportedModel, "/text_config/use_bidirectional_attention", R"("vision")", "use_bidirectional_attention");
  expect_refused(ErrorCode::kUnsupportedModel, "/vision_config/num_key_value_heads", "4", "vision_config.num_key_value_heads");
  expect_refused(ErrorCode::kUnsupportedModel, "/vision_config/rope_parameters/rope_type", R"("yarn")", "rope_parameters.rope_type");
  expect_refused(ErrorCode::kUnsupportedModel, "/text_config/global_head_dim", "128", "text_config.global_head_dim");
  expect_refused(ErrorCode::kUnsupportedModel, "/text_config/sliding_window", "131072", "text_config.sliding_window");
  expect_refused(ErrorCode::kUnsupportedModel, "/model_type", R"("gemma4_unified")", "model_type");
}

TEST(Gemma4Folder, WhatCannotBeIsRefusedByName) {
  expect_refused(ErrorCode::kDamagedFile, "/text_config/num_kv_shared_layers", "35", "num_kv_shared_layers");
  expect_refused(ErrorCode::kDamagedFile, "/text_config/num_kv_shared_layers", "32",
                 "num_kv_shared_layers");  // none looks back before them
  expect_refused(ErrorCode::kDamagedFile, "/text_config/vocab_size_per_layer_input", "1000", "vocab_size_per_layer_input");
  expect_refused(ErrorCode::kDamagedFile, "/text_config/head_dim", "255", "text_config.head_dim");
  expect_refused(ErrorCode::kLimitExceeded, "/text_config/global_head_dim", "1024", "text_config.global_head_dim");
  expect_refused(ErrorCode::kDamagedFile, "/text_config/rope_parameters/full_attention/partial_rotary_factor", "0.0",
                 "partial_rotary_factor");
  expect_refused(ErrorCode::kDamagedFile, "/vision_config/head_dim", "66", "vision_config.head_dim");
  expect_refused(ErrorCode::kDamagedFile, "/image_token_id", "300000", "image_token_id");
}

TEST(Gemma4Folder, ABudgetIsOneThatTheProcessorKnows) {
  EXPECT_EQ(parse_rules("{}").budget, 280);
  EXPECT_EQ(parse_rules(R"({"max_soft_tokens": 1120})").budget, 1120);
  expect_error(ErrorCode::kUnsupportedModel, "max_soft_tokens", [] { parse_rules(R"({"max_soft_tokens": 100})"); });
  expect_error(ErrorCode::kLimitExceeded, "max_soft_tokens", [] { parse_rules(R"({"max_soft_tokens": 2240})"); });
  expect_error(ErrorCode::kUnsupportedModel, "do_resize", [] { parse_rules(R"({"do_resize": false})"); });
}

}  // namespace
}  // namespace winnow::gemma4_test
