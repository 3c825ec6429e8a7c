// What a GGUF file becomes: documents with Hugging Face's keys, tensors under its names, a tokenizer, a template; and what is refused.
#include "engine/model_files/gguf_model.h"

#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "tests/support/expect_error.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/scratch_folder.h"

namespace winnow {
namespace {

using test::GgufWriter;
using test::kGgufF32;

// Without the architecture's own keys.
GgufWriter beginning(const char* architecture, const std::vector<std::int32_t>& types = {3, 3, 3, 1, 1, 1}) {
  GgufWriter writer;
  writer.text("general.architecture", architecture).text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", "smollm");
  writer.texts("tokenizer.ggml.tokens", {"<|endoftext|>", "<|im_start|>", "<|im_end|>", "a", "b", "ab"});
  writer.int32s("tokenizer.ggml.token_type", types).texts("tokenizer.ggml.merges", {"a b"});
  return writer.uint32("tokenizer.ggml.bos_token_id", 1).uint32("tokenizer.ggml.eos_token_id", 0);
}

GgufWriter sized(GgufWriter writer, const std::string& architecture, std::uint32_t layers = 2) {
  return writer.uint32(architecture + ".block_count", layers)
      .uint32(architecture + ".context_length", 512)
      .uint32(architecture + ".embedding_length", 8)
      .uint32(architecture + ".feed_forward_length", 12)
      .uint32(architecture + ".attention.head_count", 2)
      .uint32(architecture + ".attention.head_count_kv", 1)
      .float32(architecture + ".attention.layer_norm_rms_epsilon", 1e-6F)
      .float32(architecture + ".rope.freq_base", 100000.0F);
}

class GgufModels : public testing::Test {
 protected:
  GgufModel model(const GgufWriter& writer) { return GgufModel(folder_.write("model.gguf", writer.bytes())); }
  void refuse(const GgufWriter& writer, ErrorCode code, const char* reason) {
    test::expect_error(code, reason, [&] { model(writer); });
  }
  test::ScratchFolder folder_;
};

TEST_F(GgufModels, MetadataBecomeAConfiguration) {
  const GgufModel found = model(sized(beginning("llama"), "llama"));
  const Json& config = found.required(ModelPart::kConfig).content;
  EXPECT_EQ(config["architectures"][0], "LlamaForCausalLM");
  EXPECT_EQ(config["model_type"], "llama");
  EXPECT_EQ(config["hidden_size"], 8);
  EXPECT_EQ(config["num_key_value_heads"], 1);
  EXPECT_EQ(config["head_dim"], 4);
  EXPECT_EQ(config["vocab_size"], 6);
  EXPECT_EQ(config["max_position_embeddings"], 512);
  EXPECT_NEAR(config["rope_theta"].get<double>(), 1e5, 1e-3);
  EXPECT_TRUE(config["rope_scaling"].is_null());
  EXPECT_TRUE(config["tie_word_embeddings"]);
  EXPECT_TRUE(config.at("sliding_window").is_null()) << "absent would mean the class's default";
  EXPECT_EQ(found.name(), "model");
  EXPECT_EQ(found.document(ModelPart::kProcessor), nullptr);
}

TEST_F(GgufModels, WhatEndsATurnEndsAnAnswer) {
  const GgufModel found = model(sized(beginning("llama"), "llama"));
  EXPECT_EQ(found.required(ModelPart::kGeneration).content["eos_token_id"], (std::vector<int>{0, 2})) << "the end of text and of a turn";
}

TEST_F(GgufModels, EveryEndThatTheFileNamesOrAFineTuneAddedEndsAnAnswer) {
  const auto ends = [&](std::int32_t type_of_im_end) {
    GgufWriter writer = sized(beginning("llama", {3, 3, type_of_im_end, 1, 1, 1}), "llama");
    writer.uint32("tokenizer.ggml.eot_token_id", 3).uint32("tokenizer.ggml.eom_token_id", 4);
    return model(writer).required(ModelPart::kGeneration).content["eos_token_id"];
  };
  EXPECT_EQ(ends(4), (std::vector<int>{0, 2, 3, 4})) << "a token that was added";
  EXPECT_EQ(ends(1), (std::vector<int>{0, 3, 4})) << "a word";
}

TEST_F(GgufModels, ArchitecturesDifferInTheOrderOfRows) {
  const std::string data(8 * 8 * 4, '\0');
  const auto with_query = [&](const char* architecture) {
    return sized(beginning(architecture), architecture)
        .tensor("blk.1.attn_q.weight", {8, 8}, kGgufF32, data)
        .tensor("blk.1.attn_v.weight", {8, 4}, kGgufF32, data.substr(0, 8 * 4 * 4))
        .tensor("blk.1.attn_rot_embd.weight", {4}, kGgufF32, data.substr(0, 16));
  };
  const GgufModel llama = model(with_query("llama"));
  const TensorFile& tensors = *llama.tensors().files.front();
  EXPECT_EQ(tensors.tensors().size(), 2U) << "what a Hugging Face folder has no name for is left out";
  const StoredTensor& query = tensors.tensor("model.layers.1.self_attn.q_proj.weight");
  EXPECT_EQ(query.interleaved, 4);
  // Of a head of four, rows 0, 1, 2, 3 are stored as 0, 2, 1, 3.
  EXPECT_EQ(row_order(query), (std::vector<std::int32_t>{0, 2, 1, 3, 4, 6, 5, 7}));
  EXPECT_EQ(tensors.tensor("model.layers.1.self_attn.v_proj.weight").interleaved, 0);
  const GgufModel intern = model(with_query("internlm2"));
  EXPECT_EQ(intern.tensors().files.front()->tensor("model.layers.1.self_attn.q_proj.weight").interleaved, 4);
  EXPECT_EQ(intern.required(ModelPart::kConfig).content["architectures"][0], "LlamaForCausalLM");
  const GgufModel qwen = model(with_query("qwen2"));
  EXPECT_EQ(qwen.tensors().files.front()->tensor("model.layers.1.self_attn.q_proj.weight").interleaved, 0);
}

TEST_F(GgufModels, FrequencyFactorsAreAWayOfScaling) {
  const std::string factors = GgufWriter::number(1.0F) + GgufWriter::number(4.0F);
  const GgufModel found = model(sized(beginning("llama"), "llama").tensor("rope_freqs.weight", {2}, kGgufF32, factors));
  const Json& scaling = found.required(ModelPart::kConfig).content["rope_scaling"];
  EXPECT_EQ(scaling["rope_type"], "longrope");
  EXPECT_EQ(scaling["short_factor"], (std::vector<double>{1.0, 4.0}));
  EXPECT_EQ(scaling["attention_factor"], 1.0);
}

// What Gemma's file leaves to whoever reads it is as llama.cpp has it.
TEST_F(GgufModels, AGemmaHasNormsAboutOneAndTwoKindsOfLayers) {
  const std::string data(8 * 4, '\0');
  const auto gemma = [&](std::uint32_t layers) {
    return sized(beginning("gemma3"), "gemma3", layers).uint32("gemma3.attention.sliding_window", 64);
  };
  const GgufModel found = model(gemma(2)
                                    .float32("gemma3.final_logit_softcapping", 30.0F)
                                    .tensor("blk.1.ffn_norm.weight", {8}, kGgufF32, data)
                                    .tensor("blk.1.post_attention_norm.weight", {8}, kGgufF32, data)
                                    .tensor("blk.1.post_ffw_norm.weight", {8}, kGgufF32, data)
                                    .tensor("blk.1.attn_q_norm.weight", {4}, kGgufF32, data.substr(0, 16))
                                    .tensor("blk.1.attn_v.weight", {8, 1}, kGgufF32, data)
                                    .tensor("output_norm.weight", {8}, kGgufF32, data));
  const Json& config = found.required(ModelPart::kConfig).content;
  EXPECT_EQ(config["architectures"][0], "Gemma3ForCausalLM");
  EXPECT_EQ(config["model_type"], "gemma3_text");
  EXPECT_EQ(config["query_pre_attn_scalar"], 4) << "the head size";
  EXPECT_EQ(config["sliding_window"], 64);
  EXPECT_EQ(config["sliding_window_pattern"], 6);
  EXPECT_EQ(config["rope_local_base_freq"], 10000.0);
  EXPECT_EQ(config["final_logit_softcapping"], 30.0);
  const TensorFile& tensors = *found.tensors().files.front();
  EXPECT_EQ(tensors.tensors().size(), 6U);
  for (const char* name :
       {"model.layers.1.pre_feedforward_layernorm.weight", "model.layers.1.post_attention_layernorm.weight",
        "model.layers.1.post_feedforward_layernorm.weight", "model.layers.1.self_attn.q_norm.weight", "model.norm.weight"})
    EXPECT_TRUE(tensors.tensor(name).with_one) << name;
  EXPECT_FALSE(tensors.tensor("model.layers.1.self_attn.v_proj.weight").with_one);
  EXPECT_FALSE(model(sized(beginning("llama"), "llama").tensor("output_norm.weight", {8}, kGgufF32, data))
                   .tensors()
                   .files.front()
                   ->tensor("model.norm.weight")
                   .with_one);
  EXPECT_EQ(model(gemma(62)).required(ModelPart::kConfig).content["query_pre_attn_scalar"], 4) << "27B: width by heads, 8 / 2";
  const GgufModel whole = model(sized(beginning("gemma3"), "gemma3"));
  EXPECT_EQ(whole.required(ModelPart::kConfig).content["sliding_window_pattern"], 1) << "no layer looks back over a window";
}

GgufWriter with_states(const std::string& architecture, std::uint32_t layers = 3) {
  return sized(beginning(architecture.c_str()), architecture, layers)
      .uint32(architecture + ".attention.key_length", 16)
      .uint32(architecture + ".attention.value_length", 16)
      .uint32(architecture + ".rope.dimension_count", 4)
      .uint32(architecture + ".ssm.conv_kernel", 4)
      .uint32(architecture + ".ssm.state_size", 2)
      .uint32(architecture + ".ssm.group_count", 2)
      .uint32(architecture + ".ssm.time_step_rank", 4)
      .uint32(architecture + ".ssm.inner_size", 12);
}

// Lists of what layers have; whose values are keys, and who sees more than itself, the tensors tell.
TEST_F(GgufModels, AGemma4HasLayersThatDiffer) {
  const std::string data(16 * 8 * 4, '\0');
  std::string factors = GgufWriter::number(1.0F);
  for (int pair = 1; pair < 4; ++pair) factors += GgufWriter::number(1e30F);
  const auto gemma = [&](const std::vector<std::int32_t>& kv_heads) {
    return beginning("gemma4")
        .uint32("gemma4.block_count", 3)
        .uint32("gemma4.context_length", 512)
        .uint32("gemma4.embedding_length", 8)
        .int32s("gemma4.feed_forward_length", {12, 12, 24})
        .uint32("gemma4.attention.head_count", 2)
        .int32s("gemma4.attention.head_count_kv", kv_heads)
        .uint32("gemma4.attention.key_length", 8)
        .uint32("gemma4.attention.value_length", 8)
        .uint32("gemma4.attention.key_length_swa", 4)
        .uint32("gemma4.attention.sliding_window", 64)
        .list("gemma4.attention.sliding_window_pattern", GgufType::kBool, 3, std::string("\1\1\0", 3))
        .tensor("rope_freqs.weight", {4}, kGgufF32, factors);
  };
  const GgufModel found = model(gemma({2, 2, 1})
                                    .uint32("gemma4.expert_count", 5)
                                    .uint32("gemma4.expert_used_count", 2)
                                    .uint32("gemma4.expert_feed_forward_length", 16)
                                    .tensor("blk.2.attn_k.weight", {8, 8}, kGgufF32, data.substr(0, 256))
                                    .tensor("blk.2.ffn_gate_inp.scale", {8}, kGgufF32, data.substr(0, 32))
                                    .tensor("blk.2.layer_output_scale.weight", {1}, kGgufF32, data.substr(0, 4))
                                    .tensor("blk.2.pre_ffw_norm_2.weight", {8}, kGgufF32, data.substr(0, 32))
                                    .tensor("blk.2.ffn_norm.weight", {8}, kGgufF32, data.substr(0, 32)));
  const Json& config = found.required(ModelPart::kConfig).content;
  EXPECT_EQ(config["architectures"][0], "Gemma4ForCausalLM");
  EXPECT_EQ(config["num_key_value_heads"], 2);
  EXPECT_EQ(config["head_dim"], 4);
  EXPECT_EQ(config["intermediate_size"], 12);
  EXPECT_TRUE(config["use_double_wide_mlp"]);
  EXPECT_EQ(config["per_layer_config"], Json::parse(R"({"2": {"head_dim": 8, "num_key_value_heads": 1}})"));
  EXPECT_EQ(config["layer_types"], Json::parse(R"(["sliding_attention", "sliding_attention", "full_attention"])"));
  EXPECT_TRUE(config["attention_k_eq_v"]);
  EXPECT_EQ(config["use_bidirectional_attention"], "vision");
  EXPECT_EQ(config["num_experts"], 5);
  EXPECT_EQ(static_cast<int>(4 * config["rope_parameters"]["full_attention"]["partial_rotary_factor"].get<double>()), 1);
  const TensorFile& tensors = *found.tensors().files.front();
  for (const char* name : {"self_attn.k_proj.weight", "router.scale", "layer_scalar", "pre_feedforward_layernorm_2.weight"})
    EXPECT_TRUE(tensors.tensors().contains(std::string("model.layers.2.") + name)) << name;
  EXPECT_FALSE(tensors.tensor("model.layers.2.pre_feedforward_layernorm.weight").with_one);
  const GgufModel small = model(gemma({1, 1, 1}).uint32("gemma4.embedding_length_per_layer_input", 2));
  EXPECT_FALSE(small.required(ModelPart::kConfig).content.contains("use_bidirectional_attention"));
  EXPECT_FALSE(small.required(ModelPart::kConfig).content["attention_k_eq_v"]);
  refuse(gemma({2, 1, 1}), ErrorCode::kUnsupportedModel, "layers of one kind");
  refuse(gemma({2, 2, 1}).uint32("gemma4.rope.dimension_count_swa", 2), ErrorCode::kUnsupportedModel, "under a window");
}

// The last of three layers guesses several tokens at once and is not read.
TEST_F(GgufModels, AQwen35HasLayersThatKeepStates) {
  const std::string data(8 * 12 * 4, '\0');
  const auto vector = [&](std::uint64_t count) { return data.substr(0, count * 4); };
  const GgufModel found = model(with_states("qwen35")
                                    .uint32("qwen35.nextn_predict_layers", 1)
                                    .uint32("qwen35.full_attention_interval", 2)
                                    .tensor("blk.0.ssm_a", {4}, kGgufF32, vector(4))
                                    .tensor("blk.0.ssm_dt.bias", {4}, kGgufF32, vector(4))
                                    .tensor("blk.0.ssm_conv1d.weight", {4, 20}, kGgufF32, vector(80))
                                    .tensor("blk.0.ssm_norm.weight", {3}, kGgufF32, vector(3))
                                    .tensor("blk.0.ssm_dt.weight", {4}, kGgufF32, vector(4))
                                    .tensor("blk.0.post_attention_norm.weight", {8}, kGgufF32, vector(8))
                                    .tensor("blk.2.attn_norm.weight", {8}, kGgufF32, vector(8))
                                    .tensor("blk.2.nextn.enorm.weight", {8}, kGgufF32, vector(8))
                                    .tensor("blk.2.nextn.shared_head_norm.weight", {8}, kGgufF32, vector(8))
                                    .tensor("blk.2.nextn.embed_tokens.weight", {8}, kGgufF32, vector(8))
                                    .tensor("blk.3.attn_norm.weight", {8}, kGgufF32, vector(8)));
  const Json& config = found.required(ModelPart::kConfig).content;
  EXPECT_EQ(config["architectures"][0], "Qwen3_5ForCausalLM");
  EXPECT_EQ(config["num_hidden_layers"], 2);
  EXPECT_EQ(config["full_attention_interval"], 2);
  EXPECT_EQ(config["linear_num_key_heads"], 2);
  EXPECT_EQ(config["linear_num_value_heads"], 4);
  EXPECT_EQ(config["linear_key_head_dim"], 2);
  EXPECT_EQ(config["linear_value_head_dim"], 3);
  EXPECT_TRUE(config["linear_value_heads_in_turn"]);
  EXPECT_EQ(static_cast<int>(16 * config["rope_scaling"]["partial_rotary_factor"].get<double>()), 4);
  const TensorFile& tensors = *found.tensors().files.front();
  EXPECT_EQ(tensors.tensors().size(), 8U) << "with the layer that guesses, but for its embedding";
  for (const char* name : {"layers.0.input_layernorm", "pre_fc_norm_embedding", "norm"})
    EXPECT_TRUE(tensors.tensor("mtp." + std::string(name) + ".weight").with_one) << name;
  EXPECT_EQ(tensors.tensor("model.layers.0.linear_attn.A").shape, (std::vector<std::int64_t>{4}));
  EXPECT_EQ(tensors.tensor("model.layers.0.linear_attn.dt_bias").shape, (std::vector<std::int64_t>{4}));
  EXPECT_EQ(tensors.tensor("model.layers.0.linear_attn.conv1d.weight").shape, (std::vector<std::int64_t>{20, 1, 4}));
  EXPECT_FALSE(tensors.tensor("model.layers.0.linear_attn.norm.weight").with_one);
  EXPECT_TRUE(tensors.tensor("model.layers.0.post_attention_layernorm.weight").with_one);
}

TEST_F(GgufModels, AQwen35MoeHasAnExpertThatAllTokensGoThrough) {
  const auto with_experts = [](const std::string& architecture) {
    return with_states(architecture)
        .uint32(architecture + ".expert_count", 5)
        .uint32(architecture + ".expert_used_count", 2)
        .uint32(architecture + ".expert_feed_forward_length", 16)
        .uint32(architecture + ".expert_shared_feed_forward_length", 24)
        .tensor("blk.0.ffn_gate_inp_shexp.weight", {8}, kGgufF32, std::string(32, '\0'));
  };
  const GgufModel found = model(with_experts("qwen35moe"));
  const Json& config = found.required(ModelPart::kConfig).content;
  EXPECT_EQ(config["model_type"], "qwen3_5_moe_text");
  EXPECT_EQ(config["num_experts"], 5);
  EXPECT_EQ(config["shared_expert_intermediate_size"], 24);
  EXPECT_EQ(found.tensors().files.front()->tensor("model.layers.0.mlp.shared_expert_gate.weight").shape, (std::vector<std::int64_t>{1, 8}));
  EXPECT_FALSE(model(with_experts("qwen3next")).required(ModelPart::kConfig).content["linear_value_heads_in_turn"])
      << "its values lie together for a key head";
}

// Layers without KV heads are short convolutions.
TEST_F(GgufModels, AnLfm2HasLayersThatConvolve) {
  const auto lfm2 = [](const std::vector<std::int32_t>& kv_heads) {
    GgufWriter writer = beginning("lfm2");
    return writer.uint32("lfm2.block_count", 3)
        .uint32("lfm2.context_length", 512)
        .uint32("lfm2.embedding_length", 8)
        .uint32("lfm2.feed_forward_length", 12)
        .uint32("lfm2.attention.head_count", 2)
        .int32s("lfm2.attention.head_count_kv", kv_heads)
        .uint32("lfm2.shortconv.l_cache", 3);
  };
  const std::string data(3 * 8 * 8 * 4, '\0');
  const GgufModel found = model(lfm2({0, 1, 0})
                                    .tensor("token_embd_norm.weight", {8}, kGgufF32, data.substr(0, 32))
                                    .tensor("blk.0.shortconv.conv.weight", {3, 8}, kGgufF32, data.substr(0, 96))
                                    .tensor("blk.0.shortconv.in_proj.weight", {8, 24}, kGgufF32, data)
                                    .tensor("blk.0.ffn_gate.weight", {8, 8}, kGgufF32, data.substr(0, 256))
                                    .tensor("blk.1.attn_q_norm.weight", {4}, kGgufF32, data.substr(0, 16)));
  const Json& config = found.required(ModelPart::kConfig).content;
  EXPECT_EQ(config["architectures"][0], "Lfm2ForCausalLM");
  EXPECT_EQ(config["layer_types"], (std::vector<std::string>{"conv", "full_attention", "conv"}));
  EXPECT_EQ(config["num_key_value_heads"], 1);
  EXPECT_EQ(config["conv_L_cache"], 3);
  EXPECT_FALSE(config["block_auto_adjust_ff_dim"]);
  const TensorFile& tensors = *found.tensors().files.front();
  EXPECT_EQ(tensors.tensor("model.layers.0.conv.conv.weight").shape, (std::vector<std::int64_t>{8, 1, 3}));
  for (const char* name : {"model.embedding_norm.weight", "model.layers.0.conv.in_proj.weight", "model.layers.0.feed_forward.w1.weight",
                           "model.layers.1.self_attn.q_layernorm.weight"})
    EXPECT_TRUE(tensors.tensors().contains(name)) << name;
  refuse(lfm2({0, 1, 2}), ErrorCode::kUnsupportedModel, "layers of one kind");
  refuse(lfm2({0, 1, 0}).uint32("lfm2.attention.sliding_window", 64), ErrorCode::kUnsupportedModel, "sliding window");
}

// Text models are stored as their folders have them; those that see with the two halves of what rotates apart.
TEST_F(GgufModels, AGlm4RotatesAPartOfAHead) {
  const auto glm4 = [](std::uint32_t rotated) {
    GgufWriter writer;
    writer.text("general.architecture", "glm4").text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", "glm4");
    writer.texts("tokenizer.ggml.tokens", {"<|endoftext|>", "<|user|>", "<|observation|>", "</answer>", "b", "ab"});
    return sized(std::move(writer.int32s("tokenizer.ggml.token_type", {3, 3, 3, 3, 1, 1})), "glm4", 3)
        .uint32("glm4.rope.dimension_count", rotated)
        .uint32("glm4.nextn_predict_layers", 1);
  };
  const std::string data(8 * 24 * 4, '\0');
  const GgufModel text = model(glm4(2)
                                   .tensor("blk.1.post_attention_norm.weight", {8}, kGgufF32, data.substr(0, 32))
                                   .tensor("blk.1.ffn_norm.weight", {8}, kGgufF32, data.substr(0, 32))
                                   .tensor("blk.1.post_ffw_norm.weight", {8}, kGgufF32, data.substr(0, 32))
                                   .tensor("blk.1.ffn_up.weight", {8, 24}, kGgufF32, data)
                                   .tensor("blk.2.ffn_up.weight", {8, 24}, kGgufF32, data));
  const Json& config = text.required(ModelPart::kConfig).content;
  EXPECT_EQ(config["architectures"][0], "Glm4ForCausalLM");
  EXPECT_EQ(config["num_hidden_layers"], 2) << "without the layer that guesses";
  EXPECT_EQ(static_cast<int>(4 * config["rope_scaling"]["partial_rotary_factor"].get<double>()), 2) << "of heads of four";
  EXPECT_FALSE(config["rotary_pairs_in_halves"]);
  EXPECT_EQ(text.required(ModelPart::kGeneration).content["eos_token_id"], (std::vector<int>{0, 1, 2, 3}));
  const TensorFile& tensors = *text.tensors().files.front();
  EXPECT_EQ(tensors.tensors().size(), 5U) << "with the layer that guesses";
  for (const char* name : {"post_self_attn_layernorm", "post_attention_layernorm", "post_mlp_layernorm", "mlp.gate_up_proj"})
    EXPECT_TRUE(tensors.tensors().contains("model.layers.1." + std::string(name) + ".weight")) << name;
  const GgufModel seeing = model(glm4(4).int32s("glm4.rope.dimension_sections", {1, 1, 0, 0}));
  EXPECT_TRUE(seeing.required(ModelPart::kConfig).content["rotary_pairs_in_halves"]);
  EXPECT_EQ(seeing.required(ModelPart::kConfig).content["rope_scaling"]["partial_rotary_factor"], 1.0);
}

TEST_F(GgufModels, AGlm4MoeChoosesExpertsBySigmoids) {
  const auto glm4moe = [] {
    return sized(beginning("glm4moe"), "glm4moe", 3)
        .uint32("glm4moe.rope.dimension_count", 2)
        .uint32("glm4moe.nextn_predict_layers", 1)
        .uint32("glm4moe.expert_count", 4)
        .uint32("glm4moe.expert_used_count", 2)
        .uint32("glm4moe.expert_feed_forward_length", 6)
        .uint32("glm4moe.expert_shared_count", 2)
        .boolean("glm4moe.expert_weights_norm", true)
        .float32("glm4moe.expert_weights_scale", 2.5F);
  };
  const std::string data(4 * 8 * 6 * 4, '\0');
  const GgufModel found = model(glm4moe()
                                    .tensor("blk.0.post_attention_norm.weight", {8}, kGgufF32, data.substr(0, 32))
                                    .tensor("blk.1.ffn_gate_inp.weight", {8, 4}, kGgufF32, data.substr(0, 128))
                                    .tensor("blk.1.exp_probs_b.bias", {4}, kGgufF32, data.substr(0, 16))
                                    .tensor("blk.1.ffn_gate_exps.weight", {8, 6, 4}, kGgufF32, data)
                                    .tensor("blk.1.ffn_gate_shexp.weight", {8, 12}, kGgufF32, data.substr(0, 384))
                                    .tensor("blk.1.attn_q_norm.weight", {4}, kGgufF32, data.substr(0, 16))
                                    .tensor("blk.2.nextn.eh_proj.weight", {8}, kGgufF32, data.substr(0, 32)));
  const Json& config = found.required(ModelPart::kConfig).content;
  EXPECT_EQ(config["architectures"][0], "Glm4MoeForCausalLM");
  EXPECT_EQ(config["num_hidden_layers"], 2);
  EXPECT_EQ(config["n_routed_experts"], 4);
  EXPECT_EQ(config["n_shared_experts"], 2);
  EXPECT_EQ(config["n_group"], 1);
  EXPECT_EQ(config["routed_scaling_factor"], 2.5);
  EXPECT_TRUE(config["norm_topk_prob"]);
  EXPECT_TRUE(config["use_qk_norm"]);
  const TensorFile& tensors = *found.tensors().files.front();
  EXPECT_EQ(tensors.tensors().size(), 7U);
  EXPECT_TRUE(tensors.tensors().contains("mtp.fc.weight")) << "of the layer that guesses";
  for (const char* name : {"0.post_attention_layernorm.weight", "1.mlp.gate.weight", "1.mlp.gate.e_score_correction_bias",
                           "1.mlp.experts.gate_proj.weight", "1.mlp.shared_experts.gate_proj.weight"})
    EXPECT_TRUE(tensors.tensors().contains("model.layers." + std::string(name))) << name;
  refuse(glm4moe().uint32("glm4moe.expert_gating_func", 1), ErrorCode::kUnsupportedModel, "anything but sigmoids");
}

TEST_F(GgufModels, TheTemplateIsTheFilesOrChatMl) {
  GgufWriter with = sized(beginning("llama"), "llama");
  const GgufModel own = model(with.text("tokenizer.chat_template", "{{ messages[0]['content'] }}"));
  EXPECT_EQ(own.chat_template({}).source, "{{ messages[0]['content'] }}");
  EXPECT_EQ(own.chat_template({}).bos, "<|im_start|>");
  EXPECT_EQ(own.chat_template({}).eos, "<|endoftext|>");
  EXPECT_EQ(own.chat_template({}).origin, TemplateOrigin::kOwn);
  const GgufModel chat_ml = model(sized(beginning("llama"), "llama"));
  EXPECT_NE(chat_ml.chat_template({}).source.find("<|im_start|>"), std::string::npos);
  EXPECT_EQ(chat_ml.chat_template({}).origin, TemplateOrigin::kMarkers) << "probe said that it was its own";
  EXPECT_EQ(chat_ml.chat_template("the family's").origin, TemplateOrigin::kFamily);
  GgufWriter none;
  none.text("general.architecture", "llama").texts("tokenizer.ggml.tokens", {"a", "b"});
  const GgufModel silent = model(sized(none, "llama"));
  test::expect_error(ErrorCode::kUnsupportedModel, "instruct", [&] { silent.chat_template({}); });
}

TEST_F(GgufModels, NamesWhatItDoesNotRead) {
  refuse(sized(beginning("mamba"), "mamba"), ErrorCode::kUnsupportedModel, "\"mamba\"");
  refuse(sized(beginning("qwen2"), "qwen2").uint32("qwen2.expert_count", 8), ErrorCode::kUnsupportedModel, "experts");
  refuse(sized(beginning("qwen3moe"), "qwen3moe").uint32("qwen3moe.expert_shared_count", 1), ErrorCode::kUnsupportedModel,
         "every token goes through");
  refuse(sized(beginning("llama"), "llama").uint32("llama.expert_gating_func", 2), ErrorCode::kUnsupportedModel, "softmax");
  refuse(sized(beginning("llama"), "llama").uint32("llama.rope.dimension_count", 2), ErrorCode::kUnsupportedModel, "partial rotary");
  refuse(sized(beginning("llama"), "llama").uint32("llama.attention.value_length", 8), ErrorCode::kUnsupportedModel, "different sizes");
  refuse(sized(beginning("mistral3"), "mistral3").float32("mistral3.attention.temperature_scale", 0.1F), ErrorCode::kUnsupportedModel,
         "temperature");
  refuse(beginning("llama"), ErrorCode::kDamagedFile, "llama.embedding_length");
  refuse(sized(beginning("qwen35"), "qwen35"), ErrorCode::kDamagedFile, "qwen35.ssm.");
  refuse(with_states("qwen35moe"), ErrorCode::kDamagedFile, "qwen35moe.expert_used_count");
  GgufWriter empty;
  empty.text("general.architecture", "llama").texts("tokenizer.ggml.tokens", {});
  refuse(sized(empty, "llama"), ErrorCode::kDamagedFile, "empty");
}

}  // namespace
}  // namespace winnow
