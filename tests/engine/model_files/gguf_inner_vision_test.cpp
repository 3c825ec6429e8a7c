// GGUF files with a vision encoder inside, as Ollama's converter makes them: what they say, what they leave out, and what is refused.
#include "engine/model_files/gguf_inner_vision.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "engine/base/error.h"
#include "engine/model_files/gguf_model.h"
#include "engine/model_files/open_package.h"
#include "tests/support/expect_error.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/golden_path.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/shell.h"

namespace winnow {
namespace {

using test::GgufWriter;
using test::kGgufF32;
using Shape = std::vector<std::int64_t>;

// tests/golden/make/make_ollama_golden.py wrote them.
std::string inside(const std::string& name) { return test_support::golden_folder("ollama/" + name + ".gguf"); }

const Json& config_of(const ModelPackage& model) { return model.required(ModelPart::kConfig).content; }

// Of an architecture, with a tensor of a vision encoder.
GgufWriter tiny(const std::string& architecture, std::uint32_t layers = 1) {
  GgufWriter writer;
  writer.text("general.architecture", architecture).text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", "default");
  writer.texts("tokenizer.ggml.tokens", {"a", "<|image_pad|>", "<|video_pad|>", "<start_of_image>", "<image_soft_token>", "<|im_start|>",
                                         "[IMG]", "[IMG_BREAK]", "[IMG_END]"});
  for (const auto& [key, value] : std::initializer_list<std::pair<const char*, std::uint32_t>>{{"block_count", layers},
                                                                                               {"context_length", 64},
                                                                                               {"embedding_length", 4},
                                                                                               {"feed_forward_length", 4},
                                                                                               {"attention.head_count", 2},
                                                                                               {"attention.sliding_window", 16},
                                                                                               {"vision.block_count", 1},
                                                                                               {"vision.embedding_length", 4},
                                                                                               {"vision.feed_forward_length", 6},
                                                                                               {"vision.image_size", 16},
                                                                                               {"vision.patch_size", 2},
                                                                                               {"vision.attention.head_count", 2}})
    writer.uint32(architecture + "." + key, value);
  writer.tensor("v.blk.0.ffn_up.weight", {4, 6}, kGgufF32, std::string(96, '\0'));
  return writer.tensor("v.pos_embed.weight", {4, 9}, kGgufF32, std::string(144, '\0'));
}

class GgufInnerVision : public testing::Test {
 protected:
  std::string write(const std::string& name, const GgufWriter& writer) { return folder_.write(name, writer.bytes()); }
  test::ScratchFolder folder_;
};

TEST_F(GgufInnerVision, AGemmaIsAFolderOfOneFile) {
  const GgufModel model(inside("gemma3"));
  const Json& config = config_of(model);
  EXPECT_EQ(config["architectures"][0], "Gemma3ForConditionalGeneration");
  EXPECT_EQ(config["mm_tokens_per_image"], 16) << "told by the file, not four by four patches a token";
  const Json& text = config["text_config"];
  EXPECT_EQ(text["vocab_size"], 336) << "rows of the embedding: the converter left tokens out";
  EXPECT_EQ(text["rms_norm_eps"], 1e-6);
  EXPECT_EQ(text["rope_theta"], 1e6);
  EXPECT_EQ(text["rope_scaling"], (Json{{"rope_type", "linear"}, {"factor", 8.0}}));
  EXPECT_EQ(text["layer_types"], (Json{"sliding_attention", "full_attention"}));
  EXPECT_EQ(model.required(ModelPart::kImageProcessor).content["image_mean"], (std::vector<float>{0.5F, 0.5F, 0.5F}));
  EXPECT_EQ(model.subject(ModelPart::kImageProcessor), model.path());
  ASSERT_EQ(model.files().size(), 1U);
  const TensorFile& tower = *model.tensors().files.at(1);
  EXPECT_EQ(tower.tensors().size(), 39U) << "all of them have a name";
  EXPECT_TRUE(tower.tensor("multi_modal_projector.mm_soft_emb_norm.weight").with_one);
  EXPECT_FALSE(tower.tensor("vision_tower.vision_model.post_layernorm.weight").with_one);
  std::uint64_t bytes = 0;
  for (const auto& file : model.tensors().files) {
    for (const auto& [name, tensor] : file->tensors()) bytes += tensor.bytes();
  }
  EXPECT_LT(bytes, std::filesystem::file_size(model.path())) << "each tensor counts once";
}

TEST_F(GgufInnerVision, TokensOfAGemmaAreTokensWhateverTheirTypeSays) {
  const GgufModel model(inside("gemma3"));
  const TokenizerFile tokenizer = model.tokenizer();
  for (const char* text : {"<start_of_turn>", "<end_of_turn>", "<start_of_image>", "<end_of_image>", "<image_soft_token>"}) {
    const auto found = std::ranges::find(tokenizer.added_tokens, text, &AddedToken::content);
    ASSERT_NE(found, tokenizer.added_tokens.end()) << text;
    EXPECT_TRUE(found->special) << text;
  }
  EXPECT_EQ(tokenizer.normalizer.dump().find("Prepend"), std::string::npos) << "no space in front of a text";
  EXPECT_EQ(model.required(ModelPart::kGeneration).content["eos_token_id"], (std::vector<int>{2, 329}));
}

TEST_F(GgufInnerVision, AQwenSaysWhichLayersSeeEverythingAndHowPositionsAreDivided) {
  const GgufModel model(inside("qwen2_5_vl"));
  const Json& config = config_of(model);
  EXPECT_EQ(config["model_type"], "qwen2_5_vl");
  EXPECT_EQ(config["rope_scaling"]["mrope_section"], (std::vector<int>{2, 2, 2}));
  EXPECT_EQ(config["vision_config"]["fullatt_block_indexes"], (std::vector<int>{1}));
  EXPECT_EQ(config["vision_config"]["window_size"], 16);
  EXPECT_EQ(model.required(ModelPart::kImageProcessor).content["max_pixels"], 1536);
  EXPECT_NEAR(model.required(ModelPart::kImageProcessor).content["image_std"][0].get<double>(), 0.26862954, 1e-7);
  const TensorFile& tower = *model.tensors().files.at(1);
  for (const char* name : {"visual.patch_embed.proj.0.weight", "visual.patch_embed.proj.1.weight", "visual.blocks.2.attn.k.bias",
                           "visual.blocks.2.mlp.gate_proj.weight", "visual.merger.ln_q.weight", "visual.merger.mlp.2.bias"})
    EXPECT_TRUE(tower.tensors().contains(name)) << name;
  const std::string pattern = model.tokenizer().pre_tokenizer.dump();
  EXPECT_NE(pattern.find(R"(|\\p{N}|)"), std::string::npos) << "Qwen's, a digit at a time: the file says \"default\"";
}

TEST_F(GgufInnerVision, AQwenWithMergersBehindLayersHasOneKernelForTwoFrames) {
  const GgufModel model(inside("qwen3_vl"));
  const Json& config = config_of(model);
  EXPECT_EQ(config["vision_config"]["deepstack_visual_indexes"], (std::vector<int>{0, 1}));
  EXPECT_EQ(config["vision_config"]["num_position_embeddings"], 16);
  EXPECT_EQ(config["text_config"]["rope_scaling"]["mrope_section"], (std::vector<int>{4, 2, 2}));
  EXPECT_EQ(model.required(ModelPart::kImageProcessor).content["size"]["longest_edge"], 1280);
  const TensorFile& tower = *model.tensors().files.at(1);
  EXPECT_EQ(tower.tensor("visual.patch_embed.proj.weight").shape, (Shape{16, 3, 2, 4, 4}));
  for (const char* name : {"visual.deepstack_merger_list.1.linear_fc2.bias", "visual.patch_embed.proj.bias", "visual.pos_embed.weight",
                           "visual.blocks.2.attn.q.weight", "visual.merger.norm.weight"})
    EXPECT_TRUE(tower.tensors().contains(name)) << name;
  const GgufModel experts(inside("qwen3_vl_moe"));
  EXPECT_EQ(config_of(experts)["text_config"]["moe_intermediate_size"], 12) << "by the shape of a matrix";
}

TEST_F(GgufInnerVision, AHybridsLayersAreThoseWithoutHeads) {
  const GgufModel model(inside("qwen3_5"));
  const Json& text = config_of(model)["text_config"];
  EXPECT_EQ(text["num_key_value_heads"], 2);
  EXPECT_EQ(text["layer_types"][0], "linear_attention");
  EXPECT_EQ(text["layer_types"][1], "full_attention");
  EXPECT_TRUE(model.tensors().files.at(0)->tensors().contains("model.layers.0.linear_attn.dt_bias"));
}

TEST_F(GgufInnerVision, EyesThatAreNamedWin) {
  const std::string named = test_support::golden_folder("qwen2_5_vl/published") + "/gguf/mmproj-model.gguf";
  const GgufModel model(inside("qwen2_5_vl"), named);
  ASSERT_EQ(model.files().size(), 2U);
  EXPECT_EQ(model.files()[1].first, "mmproj-model.gguf");
  EXPECT_EQ(model.subject(ModelPart::kImageProcessor), named);
  EXPECT_TRUE(model.tensors().files.at(1)->tensors().contains("visual.blocks.2.attn.qkv.weight") ||
              model.tensors().files.at(1)->tensors().contains("visual.blocks.2.attn.q.weight"));
}

TEST_F(GgufInnerVision, WhatTheFirstConvertersLeftOutIsAsPublished) {
  const auto text_of = [](const ModelPackage& model) { return config_of(model)["text_config"]; };
  for (const std::uint32_t layers : {34U, 48U, 62U}) {
    const GgufModel model(write("gemma.gguf", tiny("gemma3", layers)));
    EXPECT_EQ(text_of(model)["rope_scaling"]["factor"], 8.0) << layers;
  }
  const GgufModel small(write("small.gguf", tiny("gemma3", 26).float32("gemma3.final_logit_softcapping", 30.0F)));
  EXPECT_TRUE(text_of(small)["rope_scaling"].is_null());
  EXPECT_FALSE(text_of(small).contains("final_logit_softcapping"));
  EXPECT_EQ(text_of(small)["sliding_window_pattern"], 6);
  EXPECT_EQ(config_of(small)["mm_tokens_per_image"], 4) << "(16 px / 2 px / 4) squared";
  const GgufModel global(write("global.gguf", tiny("gemma3").float32("gemma3.rope.global.freq_base", 5e5F)));
  EXPECT_EQ(text_of(global)["rope_theta"], 5e5);
  const GgufModel third(write("third.gguf", tiny("qwen3vl")));
  EXPECT_EQ(text_of(third)["rope_scaling"]["mrope_section"], (std::vector<int>{24, 20, 20}));
  EXPECT_EQ(third.required(ModelPart::kImageProcessor).content["size"]["shortest_edge"], 64 * 4 * 4) << "64 tokens of 4 px a side";
  const GgufModel zeros(write("zeros.gguf", tiny("qwen3vl").uint32("qwen3vl.vision.shortest_edge", 0)));
  EXPECT_EQ(zeros.required(ModelPart::kImageProcessor).content["size"]["shortest_edge"], 64 * 4 * 4);
  const GgufModel ministral(write("ministral.gguf", tiny("mistral3")
                                                        .text("mistral3.rope.scaling.type", "yarn")
                                                        .float32("mistral3.rope.scaling.factor", 16.0F)
                                                        .float32("mistral3.rope.scaling.beta_fast", 32.0F)
                                                        .float32("mistral3.rope.scaling.mscale_all_dim", 1.0F)
                                                        .uint32("mistral3.rope.scaling.original_context_length", 8)
                                                        .float32("mistral3.rope.scaling_beta", 0.5F)));
  EXPECT_EQ(text_of(ministral)["model_type"], "ministral3");
  const Json rope = text_of(ministral)["rope_parameters"];
  EXPECT_EQ(rope["llama_4_scaling_beta"], 0.5);
  EXPECT_EQ(rope["beta_fast"], 32.0);
  EXPECT_EQ(rope["mscale"], 1.0);
  EXPECT_EQ(config_of(ministral)["vision_config"]["hidden_act"], "silu");
  const GgufModel second(write("second.gguf", tiny("qwen25vl")));
  EXPECT_EQ(config_of(second)["rope_scaling"]["mrope_section"], (std::vector<int>{16, 24, 24}));
}

TEST_F(GgufInnerVision, KeysWithoutTensorsAreATextModels) {
  GgufWriter keys;
  keys.text("general.architecture", "qwen3vl").texts("tokenizer.ggml.tokens", {"a", "<|im_start|>"});
  for (const char* key :
       {"block_count", "context_length", "embedding_length", "feed_forward_length", "attention.head_count", "vision.block_count"})
    keys.uint32(std::string("qwen3vl.") + key, 2);
  const GgufModel model(write("text.gguf", keys));
  EXPECT_EQ(config_of(model)["model_type"], "qwen3");
  EXPECT_EQ(model.document(ModelPart::kImageProcessor), nullptr);
}

TEST_F(GgufInnerVision, WhatIsNotReadIsRefusedByName) {
  const auto refused = [&](ErrorCode code, const GgufWriter& writer, const std::string& subject, const char* reason) {
    const std::string file = write("refused.gguf", writer);
    try {
      GgufModel{file};
      FAIL() << reason;
    } catch (const Exception& problem) {
      EXPECT_EQ(problem.error().code, code);
      EXPECT_NE(problem.error().subject.find(subject), std::string::npos) << problem.error().subject;
      EXPECT_NE(problem.error().reason.find(reason), std::string::npos) << problem.error().reason;
    }
  };
  refused(ErrorCode::kUnsupportedModel, tiny("llama"), "general.architecture",
          "the vision encoder inside this file is not read, only those of gemma3, gemma4, mistral3, qwen25vl");
  GgufWriter early = tiny("qwen35");
  for (const char* key : {"time_step_rank", "inner_size", "group_count", "state_size", "conv_kernel"})
    early.uint32(std::string("qwen35.ssm.") + key, 4);
  refused(ErrorCode::kUnsupportedModel, early, "general.architecture", "recurrent layers are in another order");
  GgufWriter blind;
  blind.text("general.architecture", "qwen3vl").texts("tokenizer.ggml.tokens", {"a", "<|im_start|>"});
  for (const char* key :
       {"block_count", "context_length", "embedding_length", "feed_forward_length", "attention.head_count", "vision.block_count"})
    blind.uint32(std::string("qwen3vl.") + key, 2);
  blind.tensor("v.pos_embed.weight", {4, 9}, kGgufF32, std::string(144, '\0'));
  refused(ErrorCode::kUnsupportedModel, blind, "general.architecture", "does not fit: the text model's vocabulary lacks <|image_pad|>");
}

// Bytes of a whole file, changed where they stand.
TEST_F(GgufInnerVision, ADamagedOneIsRefusedByTheNameOfWhatIsMissing) {
  const std::string whole = test::file_text(inside("qwen3_vl"));
  const auto renamed = [&](const std::string& from, const std::string& to) {
    std::string bytes = whole;
    const std::size_t at = bytes.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return folder_.write("damaged.gguf", bytes.replace(at, from.size(), to));
  };
  const std::string keyless = renamed("qwen3vl.vision.patch_size", "qwen3vl.vision.patch_sise");
  test::expect_error(ErrorCode::kDamagedFile, "", [&] { GgufModel{keyless}; });
  const std::string unplaced = renamed("v.pos_embed.weight", "v.pos_embad.weight");
  test::expect_error(ErrorCode::kDamagedFile, "the vision encoder lacks it", [&] { GgufModel{unplaced}; });
  const std::string headless = renamed("qwen3vl.vision.image_mean", "qwen3vl.vision.image_maen");
  EXPECT_EQ(GgufModel(headless).required(ModelPart::kImageProcessor).content["image_mean"][0], 0.5) << "as published";
}

TEST_F(GgufInnerVision, TheBeginningTellsWhetherAFileMaySee) {
  EXPECT_TRUE(may_see_inside(inside("gemma3")));
  EXPECT_FALSE(may_see_inside(test_support::golden_folder("gemma3/published") + "/gguf/model.gguf"));
  EXPECT_FALSE(may_see_inside(folder_.write("no.gguf", "no .vision.block_count of a GGUF file")));
  EXPECT_FALSE(may_see_inside(folder_.file("missing.gguf")));
}

}  // namespace
}  // namespace winnow
