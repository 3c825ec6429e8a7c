#include "engine/models/qwen3_5/qwen3_5_config.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/expect_error.h"

namespace winnow::qwen3_5_test {
namespace {

using test::expect_error;

// As Qwen/Qwen3.5-0.8B publishes it, without what nobody reads.
Json published() {
  return Json::parse(R"({
    "architectures": ["Qwen3_5ForConditionalGeneration"], "model_type": "qwen3_5", "image_token_id": 248056, "video_token_id": 248057,
    "vision_start_token_id": 248053, "vision_end_token_id": 248054, "tie_word_embeddings": true,
    "text_config": {"model_type": "qwen3_5_text", "hidden_size": 1024, "intermediate_size": 3584, "num_hidden_layers": 24,
      "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 256, "rms_norm_eps": 1e-06, "hidden_act": "silu",
      "vocab_size": 248320, "max_position_embeddings": 262144, "full_attention_interval": 4, "attn_output_gate": true,
      "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_value_head_dim": 128,
      "linear_num_key_heads": 16, "linear_num_value_heads": 16,
      "mtp_num_hidden_layers": 1, "eos_token_id": 248044,
      "rope_parameters": {"rope_type": "default", "rope_theta": 10000000, "partial_rotary_factor": 0.25, "mrope_interleaved": true,
        "mrope_section": [11, 11, 10]}},
    "vision_config": {"model_type": "qwen3_5", "depth": 12, "hidden_size": 768, "intermediate_size": 3072, "num_heads": 12,
      "in_channels": 3, "patch_size": 16, "spatial_merge_size": 2, "temporal_patch_size": 2, "out_hidden_size": 1024,
      "num_position_embeddings": 2304, "deepstack_visual_indexes": [], "hidden_act": "gelu_pytorch_tanh"}})");
}

// As Qwen/Qwen3.5-35B-A3B has its language model.
Json with_experts() {
  Json document = published();
  document["model_type"] = document["vision_config"]["model_type"] = "qwen3_5_moe";
  Json& text = document["text_config"];
  text["model_type"] = "qwen3_5_moe_text";
  text.erase("intermediate_size");
  for (const auto& [key, value] : {std::pair("num_experts", 256), std::pair("num_experts_per_tok", 8),
                                   std::pair("moe_intermediate_size", 512), std::pair("shared_expert_intermediate_size", 768)})
    text[key] = value;
  return document;
}

Qwen3VlConfig parse(const Json& document) { return parse_qwen3_5_config(document, "config.json"); }

TEST(Qwen35Config, ReadsAPublishedFile) {
  const Qwen3VlConfig config = parse(published());
  EXPECT_EQ(config.text.layers, 24);
  EXPECT_EQ(std::ranges::count(config.text.recurrent, false), 6);
  EXPECT_FALSE(config.text.recurrent[3]);
  EXPECT_EQ(config.text.delta.channels(), 3 * 2048);
  EXPECT_EQ(config.text.rotary.rotated, 64);
  ASSERT_EQ(config.text.rotary.frequency_axis.size(), 32U);
  EXPECT_EQ(std::vector<std::int64_t>(config.text.rotary.frequency_axis.begin(), config.text.rotary.frequency_axis.begin() + 4),
            (std::vector<std::int64_t>{0, 1, 2, 0}));
  EXPECT_TRUE(config.text.output_gate && config.text.query_key_norm && config.text.tie_word_embeddings);
  EXPECT_EQ(config.text.norm, NormKind::kCentredRms);
  EXPECT_EQ(config.vision.deepstack_layers(), 0);
  EXPECT_EQ(config.vision.deepstack->table_side, 48);
}

TEST(Qwen35Config, TakesLayerTypesBeforeTheInterval) {
  Json document = published();
  document["text_config"]["num_hidden_layers"] = 3;
  document["text_config"]["layer_types"] = {"full_attention", "linear_attention", "full_attention"};
  EXPECT_EQ(parse(document).text.recurrent, (std::vector<bool>{false, true, false}));
}

TEST(Qwen35Config, ReadsExpertsAndTheOneThatAllTokensGoThrough) {
  const Qwen3VlConfig config = parse(with_experts());
  ASSERT_TRUE(config.text.experts);
  EXPECT_EQ(config.text.experts->count, 256);
  EXPECT_EQ(config.text.experts->chosen, 8);
  EXPECT_EQ(config.text.experts->intermediate_size, 512);
  EXPECT_EQ(config.text.experts->shared_size, 768);
  EXPECT_TRUE(config.text.experts->sums_to_one);
  EXPECT_FALSE(parse(published()).text.experts);
}

// As Qwen/Qwen3-Next-80B-A3B-Instruct: the same layers without a vision encoder; the file says whether weights are normalised.
TEST(Qwen35Config, ReadsQwen3Next) {
  Json text = with_experts()["text_config"];
  text["model_type"] = "qwen3_next";
  text["intermediate_size"] = 5120;
  text["norm_topk_prob"] = false;
  const DecoderConfig config = parse_decoder_config(JsonObject(text, "config.json"), "llama");
  EXPECT_EQ(config.experts->shared_size, 768);
  EXPECT_FALSE(config.experts->sums_to_one);
  EXPECT_EQ(std::ranges::count(config.recurrent, true), 18);
  EXPECT_EQ(config.rotary.axes(), 1);
}

void expect_refused(Json document, const char* key, const Json& value, ErrorCode code) {
  SCOPED_TRACE(key);
  const std::string name(key);
  document[Json::json_pointer(key)] = value;
  expect_error(code, name.substr(name.rfind('/') + 1), [&] { parse(document); });
}

TEST(Qwen35Config, RefusesExpertsThatCannotBe) {
  const auto expect = [](const char* key, const Json& value, ErrorCode code) { expect_refused(with_experts(), key, value, code); };
  expect("/text_config/num_experts", std::int64_t{1} << 40, ErrorCode::kLimitExceeded);
  expect("/text_config/num_experts_per_tok", 257, ErrorCode::kDamagedFile);
  expect("/text_config/shared_expert_intermediate_size", 0, ErrorCode::kDamagedFile);
  expect("/text_config/shared_expert_intermediate_size", "many", ErrorCode::kDamagedFile);
  expect("/text_config/moe_intermediate_size", std::int64_t{1} << 40, ErrorCode::kLimitExceeded);
  expect("/text_config/model_type", "qwen3_5_text", ErrorCode::kUnsupportedModel);
}

TEST(Qwen35Config, RefusesWhatItDoesNotRun) {
  const auto expect = [](const char* key, const Json& value, ErrorCode code) { expect_refused(published(), key, value, code); };
  expect("/model_type", "qwen3_5_text", ErrorCode::kUnsupportedModel);
  expect("/text_config/model_type", "qwen3_5_moe_text", ErrorCode::kUnsupportedModel);
  expect("/text_config/attn_output_gate", false, ErrorCode::kUnsupportedModel);
  expect("/text_config/layer_types", Json::array({"linear_attention"}), ErrorCode::kDamagedFile);
  expect("/text_config/full_attention_interval", 25, ErrorCode::kUnsupportedModel);
  expect("/text_config/linear_num_key_heads", 3, ErrorCode::kDamagedFile);
  expect("/text_config/linear_value_head_dim", 1 << 20, ErrorCode::kLimitExceeded);
  expect("/text_config/rope_parameters/partial_rotary_factor", 0.001, ErrorCode::kDamagedFile);
  expect("/text_config/rope_parameters/mrope_section", Json::array({1, 1, 1}), ErrorCode::kDamagedFile);
  expect("/vision_config/deepstack_visual_indexes", Json::array({1}), ErrorCode::kUnsupportedModel);
  expect("/vision_config/out_hidden_size", 512, ErrorCode::kDamagedFile);
}

}  // namespace
}  // namespace winnow::qwen3_5_test
