// What a Gemma 4 says about itself: as it is published, as transformers saves it, and what is refused by name.
#include "engine/models/gemma4/gemma4_folder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <variant>
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

// The same of 31B's shape.
Json published_large() {
  Json document = published();
  document.erase("audio_config");
  Json& text = document["text_config"];
  text.update(Json::parse(R"({"attention_k_eq_v": true, "head_dim": 256, "hidden_size": 5376, "hidden_size_per_layer_input": 0,
      "intermediate_size": 21504, "max_position_embeddings": 262144, "num_attention_heads": 32, "num_global_key_value_heads": 4,
      "num_hidden_layers": 60, "num_key_value_heads": 16, "num_kv_shared_layers": 0, "sliding_window": 1024,
      "use_bidirectional_attention": "vision", "use_double_wide_mlp": false})"));
  text["layer_types"] = Json::array();
  for (int layer = 0; layer < 60; ++layer) text["layer_types"].push_back(layer % 6 == 5 ? "full_attention" : "sliding_attention");
  return document;
}

// Of 12B's.
Json published_unified() {
  Json document = published_large();
  document["model_type"] = "gemma4_unified";
  Json& text = document["text_config"];
  text.update(Json::parse(R"({"hidden_size": 3840, "intermediate_size": 15360, "model_type": "gemma4_unified_text",
      "num_attention_heads": 16, "num_global_key_value_heads": 1, "num_key_value_heads": 8})"));
  text.erase("hidden_size_per_layer_input");
  document["vision_config"] = Json::parse(R"({"mm_embed_dim": 3840, "mm_posemb_size": 1120, "model_patch_size": 48,
      "model_type": "gemma4_unified_vision", "output_proj_dims": 3840, "patch_size": 16, "pooling_kernel_size": 3})");
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
  const auto& vision = std::get<Gemma4Vision>(config.vision);
  EXPECT_TRUE(vision.clipped);
  EXPECT_EQ(vision.theta, 100.0);
  EXPECT_FALSE(config.pictures_see_themselves);
  EXPECT_FALSE(text.sliding);
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
  expect_error(ErrorCode::kUnsupportedModel, "per_layer_config", [&] { parse(document); });
}

TEST(Gemma4Folder, ReadsLayersWithKvHeadsOfTheirOwn) {
  const Gemma4Config config = parse(published_large());
  const DecoderConfig& text = config.text;
  EXPECT_TRUE(config.pictures_see_themselves);
  EXPECT_TRUE(text.value_is_key);
  EXPECT_EQ(text.kv_heads, 4);
  EXPECT_EQ(text.head_dim, 512);
  EXPECT_EQ(text.other_head_dim, 0);
  ASSERT_TRUE(text.sliding);
  EXPECT_EQ(text.sliding->kv_heads, 16);
  EXPECT_EQ(text.sliding->head_dim, 256);
  EXPECT_EQ(text.sliding->window, 1024);
  EXPECT_TRUE(text.windows.empty());
  EXPECT_EQ(text.other_rotary, (RotaryScheme{1e4}));
  EXPECT_FALSE(text.layer_inputs);
  EXPECT_FALSE(text.experts_beside);
  Json saved = published_large();
  Json& of = saved["text_config"];
  of.erase("global_head_dim");
  of.erase("num_global_key_value_heads");
  for (int layer = 5; layer < 60; layer += 6)
    of["per_layer_config"][std::to_string(layer)] = {{"head_dim", 512}, {"num_key_value_heads", 4}};
  EXPECT_EQ(parse(saved).text.kv_heads, 4);
  EXPECT_EQ(parse(saved).text.sliding->kv_heads, 16);
}

TEST(Gemma4Folder, ReadsExpertsBesideTheMlp) {
  Json document = published_large();
  document["text_config"].update(
      Json::parse(R"({"enable_moe_block": true, "moe_intermediate_size": 704, "num_experts": 128, "top_k_experts": 8})"));
  const std::optional<ExpertConfig> experts = parse(document).text.experts_beside;
  ASSERT_TRUE(experts);
  EXPECT_EQ(experts->count, 128);
  EXPECT_EQ(experts->chosen, 8);
  EXPECT_EQ(experts->intermediate_size, 704);
  document["text_config"]["top_k_experts"] = 129;
  expect_error(ErrorCode::kDamagedFile, "text_config.top_k_experts", [&] { parse(document); });
  document["text_config"].erase("num_experts");
  expect_error(ErrorCode::kDamagedFile, "text_config.num_experts", [&] { parse(document); });
}

TEST(Gemma4Folder, ReadsPatchesWithoutAVisionTransformer) {
  const Gemma4Config config = parse(published_unified());
  const auto& patches = std::get<Gemma4Patches>(config.vision);
  EXPECT_EQ(patches.hidden_size, 3840);
  EXPECT_EQ(patches.positions, 1120);
  EXPECT_EQ(config.text.kv_heads, 1);
  EXPECT_EQ(config.text.sliding->kv_heads, 8);
  EXPECT_FALSE(config.text.layer_inputs);
  Json brief = published_unified();
  for (const char* key : {"use_bidirectional_attention", "sliding_window", "max_position_embeddings"}) brief["text_config"].erase(key);
  EXPECT_TRUE(parse(brief).pictures_see_themselves) << "what its class has";
  EXPECT_EQ(parse(brief).text.sliding->window, 1024);
  EXPECT_EQ(parse(brief).text.max_positions, 262'144);
  brief["vision_config"]["output_proj_dims"] = 1024;
  expect_error(ErrorCode::kDamagedFile, "vision_config.output_proj_dims", [&] { parse(brief); });
}

TEST(Gemma4Folder, TheLastLayerLooksBackOverEverything) {
  const DecoderConfig text = parse(with("/text_config/layer_types/34", R"("sliding_attention")")).text;
  EXPECT_FALSE(text.rotated_otherwise.back());
}

TEST(Gemma4Folder, WhatIsNotReadIsRefusedByName) {
  expect_refused(ErrorCode::kUnsupportedModel, "/text_config/use_bidirectional_attention", R"("all")", "use_bidirectional_attention");
  expect_refused(ErrorCode::kUnsupportedModel, "/text_config/use_bidirectional_attention", R"("vision")", "num_kv_shared_layers");
  Json endless = published_large();
  endless["text_config"]["sliding_window"] = 262'144;
  expect_error(ErrorCode::kUnsupportedModel, "text_config.sliding_window", [&] { parse(endless); });
  Json uneven = published_large();
  uneven["text_config"]["num_global_key_value_heads"] = 3;
  expect_error(ErrorCode::kDamagedFile, "num_global_key_value_heads", [&] { parse(uneven); });
  expect_refused(ErrorCode::kUnsupportedModel, "/vision_config/num_key_value_heads", "4", "vision_config.num_key_value_heads");
  expect_refused(ErrorCode::kUnsupportedModel, "/vision_config/rope_parameters/rope_type", R"("yarn")", "rope_parameters.rope_type");
  expect_refused(ErrorCode::kUnsupportedModel, "/text_config/global_head_dim", "128", "text_config.global_head_dim");
  expect_refused(ErrorCode::kUnsupportedModel, "/text_config/sliding_window", "131072", "text_config.sliding_window");
  expect_refused(ErrorCode::kUnsupportedModel, "/model_type", R"("gemma4_unified")", "text_config.model_type");
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
