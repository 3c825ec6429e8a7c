#include "engine/models/internvl/original_config.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/models/internvl/chat_template.h"
#include "engine/text/chat_template.h"
#include "tests/support/expect_error.h"

namespace winnow::original_config_test {
namespace {

using test::expect_error;

// As OpenGVLab/InternVL2_5-2B has it, without what only training reads.
Json published() {
  return Json::parse(R"({
    "architectures": ["InternVLChatModel"], "auto_map": {"AutoConfig": "configuration_internvl_chat.InternVLChatConfig"},
    "downsample_ratio": 0.5, "dynamic_image_size": true, "force_image_size": 448, "max_dynamic_patch": 12, "min_dynamic_patch": 1,
    "model_type": "internvl_chat", "pad2square": false, "ps_version": "v2", "select_layer": -1, "template": "internvl2_5",
    "use_backbone_lora": 0, "use_llm_lora": 0, "use_thumbnail": true,
    "llm_config": {"architectures": ["InternLM2ForCausalLM"], "attn_implementation": "flash_attention_2", "bias": false, "hidden_act": "silu",
      "hidden_size": 2048, "intermediate_size": 8192, "max_position_embeddings": 32768, "model_type": "internlm2",
      "num_attention_heads": 16, "num_hidden_layers": 24, "num_key_value_heads": 8, "rms_norm_eps": 1e-05,
      "rope_scaling": {"factor": 2.0, "type": "dynamic"}, "rope_theta": 1000000, "vocab_size": 92553},
    "vision_config": {"architectures": ["InternVisionModel"], "hidden_act": "gelu", "hidden_size": 1024, "image_size": 448,
      "intermediate_size": 4096, "layer_norm_eps": 1e-06, "model_type": "intern_vit_6b", "norm_type": "layer_norm",
      "num_attention_heads": 16, "num_channels": 3, "num_hidden_layers": 24, "patch_size": 14, "qk_normalization": false,
      "qkv_bias": true}})");
}

InternVlFolder parse(const Json& document) { return parse_internvl_chat_config(document, "config.json"); }

Json with(Json document, const char* pointer, const char* value) {
  document[Json::json_pointer(pointer)] = Json::parse(value);
  return document;
}

TEST(InternVlChatConfig, ReadsThePublishedFile) {
  const InternVlFolder folder = parse(published());
  EXPECT_EQ(folder.side(), 16);
  EXPECT_EQ(folder.model.text.kv_heads, 8);
  EXPECT_EQ(folder.model.text.names.query_key_value, "attention.wqkv");
  EXPECT_EQ(folder.model.text.max_positions, 32'768);
  EXPECT_TRUE(folder.model.text.rotary.divisors.empty()) << "dynamic positions are unscaled up to there";
  EXPECT_EQ(folder.model.vision.names.query_key_value, "attn.qkv");
  EXPECT_TRUE(folder.model.vision.attention_bias);
  EXPECT_TRUE(folder.model.vision.names.query_norm.empty());
  EXPECT_EQ(folder.model.feature_state, 24);
  EXPECT_FALSE(folder.model.last_norm);
  EXPECT_FALSE(folder.model.image_token_id) << "the tokenizer's";
  EXPECT_EQ(folder.pixels.tiles.most, 12);
  EXPECT_TRUE(folder.pixels.tiles.thumbnail);
  EXPECT_EQ(folder.pixels.image.arithmetic, ResizeArithmetic::kPillow);
  EXPECT_EQ(folder.own_template, internvl_chat_template("internvl2_5"));
}

TEST(InternVlChatConfig, WhatIsLeftOutIsTheClasses) {
  Json document = published();
  for (const char* key :
       {"dynamic_image_size", "force_image_size", "max_dynamic_patch", "min_dynamic_patch", "select_layer", "use_thumbnail"})
    document.erase(key);
  document["vision_config"] = Json::parse(R"({"image_size": 448, "num_hidden_layers": 45})");
  const InternVlFolder folder = parse(document);
  EXPECT_EQ(folder.pixels.tiles.most, 1) << "no tiles";
  EXPECT_FALSE(folder.pixels.tiles.thumbnail);
  EXPECT_EQ(folder.pixels.tiles.side_px, 448) << "the tower's";
  EXPECT_EQ(folder.model.vision.hidden_size, 3200);
  EXPECT_EQ(folder.model.vision.head_dim, 128);
  EXPECT_TRUE(folder.model.vision.rms_norms);
  EXPECT_FALSE(folder.model.vision.attention_bias);
  EXPECT_EQ(folder.model.vision.names.query_norm, "attn.q_norm");
  EXPECT_EQ(folder.model.feature_state, 45);
}

// As OpenGVLab/InternVL3_5-1B and its mixtures of experts have it.
TEST(InternVlChatConfig, QwenThreeSpeaksInInternVlThreePointFive) {
  Json document = published();
  document["llm_config"] = Json::parse(R"({"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "head_dim": 128,
    "hidden_act": "silu", "hidden_size": 1024, "intermediate_size": 3072, "max_position_embeddings": 40960, "num_attention_heads": 16,
    "num_hidden_layers": 28, "num_key_value_heads": 8, "rms_norm_eps": 1e-06, "rope_theta": 1000000, "vocab_size": 151936})");
  EXPECT_TRUE(parse(document).model.text.query_key_norm);
  EXPECT_EQ(parse(document).model.text.head_dim, 128);
  document["llm_config"]["architectures"] = {"Qwen3MoeForCausalLM"};
  document["llm_config"].update(
      {{"model_type", "qwen3_moe"}, {"num_experts", 128}, {"num_experts_per_tok", 8}, {"moe_intermediate_size", 768}});
  ASSERT_TRUE(parse(document).model.text.experts);
  EXPECT_EQ(parse(document).model.text.experts->chosen, 8);
}

TEST(InternVlChatConfig, WhatIsNotImplementedIsRefusedByName) {
  const auto refuses = [](const char* pointer, const char* value, ErrorCode code, const char* words) {
    SCOPED_TRACE(std::string(pointer) + " = " + value);
    expect_error(code, words, [&] { parse(with(published(), pointer, value)); });
  };
  refuses("/model_type", R"("internvl")", ErrorCode::kUnsupportedModel, "model_type");
  refuses("/llm_config", "null", ErrorCode::kDamagedFile, "llm_config");
  refuses("/llm_config/architectures", R"(["Phi3ForCausalLM"])", ErrorCode::kUnsupportedModel,
          "\"Phi3ForCausalLM\" is not a language model");
  refuses("/llm_config/architectures", "[]", ErrorCode::kUnsupportedModel, "llm_config.architectures");
  refuses("/llm_config/model_type", R"("llama")", ErrorCode::kUnsupportedModel, "llm_config.model_type");
  refuses("/llm_config/num_key_value_heads", "5", ErrorCode::kDamagedFile, "num_key_value_heads");
  refuses("/vision_config/norm_type", R"("none")", ErrorCode::kUnsupportedModel, "norm_type");
  refuses("/vision_config/hidden_size", "0", ErrorCode::kDamagedFile, "vision_config.hidden_size");
  refuses("/template", R"("phi3-chat")", ErrorCode::kUnsupportedModel, "\"phi3-chat\" is not a conversation");
  refuses("/template", "null", ErrorCode::kDamagedFile, "template");
  refuses("/ps_version", R"("v1")", ErrorCode::kUnsupportedModel, "ps_version");
  refuses("/ps_version", "null", ErrorCode::kUnsupportedModel, "ps_version");
  refuses("/pad2square", "true", ErrorCode::kUnsupportedModel, "pad2square");
  refuses("/use_llm_lora", "16", ErrorCode::kUnsupportedModel, "use_llm_lora");
  refuses("/downsample_ratio", "0.4", ErrorCode::kUnsupportedModel, "downsample_ratio");
  refuses("/force_image_size", "100", ErrorCode::kDamagedFile, "force_image_size");
  refuses("/force_image_size", "1000000", ErrorCode::kLimitExceeded, "force_image_size");
  refuses("/max_dynamic_patch", "1000", ErrorCode::kLimitExceeded, "max_dynamic_patch");
  refuses("/min_dynamic_patch", "13", ErrorCode::kDamagedFile, "min_dynamic_patch");
  refuses("/select_layer", "-26", ErrorCode::kDamagedFile, "select_layer");
}

std::string rendered(const char* name, const std::vector<TemplateMessage>& thread) {
  std::string text;
  for (const TemplatePiece& piece : ChatTemplate(internvl_chat_template(name)).render(thread, {AddGenerationPrompt::kYes}))
    text += piece.text;
  return text;
}

TemplateMessage says(const char* role, const char* text) { return {role, {{TemplateContent::Kind::kText, text}}}; }

// conversation.py: system message, then every turn, each with the separator.
TEST(InternVlConversation, TurnsEndAsTheOriginalsCodeEndsThem) {
  const TemplateMessage picture{"user", {{TemplateContent::Kind::kImage, ""}, {TemplateContent::Kind::kText, "What is it?"}}};
  const std::vector<TemplateMessage> thread = {says("system", "Be brief."), picture, says("assistant", "A fox."), says("user", "Where?")};
  EXPECT_EQ(rendered("internvl2_5", thread),
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n<IMG_CONTEXT>\nWhat is it?<|im_end|>\n"
            "<|im_start|>assistant\nA fox.<|im_end|>\n<|im_start|>user\nWhere?<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(rendered("Hermes-2", thread),
            "<|im_start|>system\nBe brief.<|im_end|><|im_start|>user\n<IMG_CONTEXT>\nWhat is it?<|im_end|>"
            "<|im_start|>assistant\nA fox.<|im_end|><|im_start|>user\nWhere?<|im_end|><|im_start|>assistant\n");
}

TEST(InternVlConversation, AThreadWithoutASystemMessageGetsTheModels) {
  EXPECT_EQ(rendered("internlm2-chat", {says("user", "Hi")}),
            "<|im_start|>system\n你是由上海人工智能实验室联合商汤科技开发的书生多模态大模型，英文名叫InternVL, "
            "是一个有用无害的人工智能助手。<|im_end|><|im_start|>user\nHi<|im_end|><|im_start|>assistant\n");
  EXPECT_EQ(internvl_chat_template("phi3-chat"), "");
}

}  // namespace
}  // namespace winnow::original_config_test
