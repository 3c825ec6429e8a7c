// A GGUF model and its mmproj file: what both say together, which model a projector belongs to, and what is refused.
#include "engine/model_files/gguf_projector.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

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

namespace fs = std::filesystem;
using test::GgufWriter;
using test::kGgufF32;

std::string golden(const std::string& name) { return test_support::golden_folder(name) + "/gguf/"; }

// A text model four features wide, with a SmolVLM's markers in its vocabulary.
GgufWriter text_model() {
  GgufWriter writer;
  writer.text("general.architecture", "llama").text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", "smollm");
  writer.texts("tokenizer.ggml.tokens", {"a", "<image>", "<fake_token_around_image>", "<|im_start|>"});
  return writer.uint32("llama.block_count", 1)
      .uint32("llama.context_length", 64)
      .uint32("llama.embedding_length", 4)
      .uint32("llama.feed_forward_length", 4)
      .uint32("llama.attention.head_count", 2);
}

GgufWriter mmproj(const char* type = "idefics3", std::uint32_t width = 4) {
  GgufWriter writer;
  writer.text("general.architecture", "clip").text("clip.projector_type", type);
  writer.float32s("clip.vision.image_mean", {0.5F, 0.5F, 0.5F}).float32s("clip.vision.image_std", {0.25F, 0.25F, 0.25F});
  return writer.uint32("clip.vision.projection_dim", width)
      .uint32("clip.vision.image_size", 16)
      .uint32("clip.vision.patch_size", 4)
      .uint32("clip.vision.embedding_length", 8)
      .uint32("clip.vision.feed_forward_length", 12)
      .uint32("clip.vision.block_count", 1)
      .uint32("clip.vision.attention.head_count", 2)
      .uint32("clip.vision.projector.scale_factor", 2);
}

class GgufEyes : public testing::Test {
 protected:
  std::string write(const std::string& name, const GgufWriter& writer) { return folder_.write(name, writer.bytes()); }
  test::ScratchFolder folder_;
};

TEST_F(GgufEyes, BothFilesTogetherAreAFolder) {
  const GgufModel model(golden("smolvlm/smolvlm2_split") + "model.gguf");
  const Json& config = model.required(ModelPart::kConfig).content;
  EXPECT_EQ(config["architectures"][0], "SmolVLMForConditionalGeneration");
  EXPECT_EQ(config["scale_factor"], 2);
  EXPECT_EQ(config["image_token_id"], 334);
  EXPECT_EQ(config["text_config"]["hidden_size"], 32);
  EXPECT_EQ(config["vision_config"]["intermediate_size"], 48);
  EXPECT_EQ(model.required(ModelPart::kProcessor).content["image_seq_len"], 4) << "(16 / 4 / 2) squared";
  const Json& pixels = model.required(ModelPart::kImageProcessor).content;
  EXPECT_EQ(pixels["size"]["longest_edge"], 64);
  EXPECT_EQ(pixels["max_image_size"]["longest_edge"], 16);
  EXPECT_TRUE(pixels["do_image_splitting"]);
  EXPECT_TRUE(model.subject(ModelPart::kImageProcessor).ends_with("mmproj-model.gguf"));
  ASSERT_EQ(model.files().size(), 2U) << "another mmproj file makes another model";
  EXPECT_EQ(model.files()[1].first, "mmproj-model.gguf");
  const TensorFile& text = *model.tensors().files.at(0);
  EXPECT_EQ(text.tensor("model.text_model.layers.1.self_attn.k_proj.weight").interleaved, 8);
  const TensorFile& tower = *model.tensors().files.at(1);
  EXPECT_EQ(tower.tensor("model.vision_model.encoder.layers.1.mlp.fc1.weight").shape, (std::vector<std::int64_t>{48, 24}));
  EXPECT_EQ(tower.tensor("model.vision_model.encoder.layers.1.self_attn.k_proj.weight").interleaved, 0);
  EXPECT_EQ(tower.tensors().size(), 38U) << "all of them have a name";
}

TEST_F(GgufEyes, AWindowedTowerSaysWhichLayersSeeEverything) {
  const GgufModel model(golden("qwen2_5_vl/published") + "model.gguf");
  const Json& config = model.required(ModelPart::kConfig).content;
  EXPECT_EQ(config["model_type"], "qwen2_5_vl");
  EXPECT_EQ(config["rope_scaling"]["mrope_section"], (std::vector<int>{2, 2, 2}));
  const Json& vision = config["vision_config"];
  EXPECT_EQ(vision["fullatt_block_indexes"], (std::vector<int>{1})) << "every second of three layers";
  EXPECT_EQ(vision["window_size"], 16);
  EXPECT_EQ(vision["out_hidden_size"], 48);
  const TensorFile& tower = *model.tensors().files.at(1);
  EXPECT_TRUE(tower.tensors().contains("visual.patch_embed.proj.0.weight"));
  EXPECT_TRUE(tower.tensors().contains("visual.patch_embed.proj.1.weight"));
}

TEST_F(GgufEyes, MergersBehindLayersAreCountedAsTheFolderDoes) {
  const GgufModel model(golden("qwen3_vl/published") + "model.gguf");
  const Json& config = model.required(ModelPart::kConfig).content;
  EXPECT_EQ(config["vision_config"]["deepstack_visual_indexes"], (std::vector<int>{0, 1}));
  EXPECT_EQ(config["vision_config"]["num_position_embeddings"], 16);
  EXPECT_EQ(config["text_config"]["model_type"], "qwen3_vl_text");
  EXPECT_EQ(model.required(ModelPart::kVideoProcessor).content["size"]["longest_edge"], 24'576 * 8 * 8) << "as many tokens as published";
  const TensorFile& tower = *model.tensors().files.at(1);
  for (const char* name : {"visual.deepstack_merger_list.1.linear_fc2.bias", "visual.patch_embed.proj.bias", "visual.pos_embed.weight",
                           "visual.blocks.2.attn.qkv.weight", "visual.merger.norm.weight"})
    EXPECT_TRUE(tower.tensors().contains(name)) << name;
}

TEST_F(GgufEyes, AGemmasEyesSayHowManyPatchesATokenHas) {
  const GgufModel model(golden("gemma3/published") + "model.gguf");
  const Json& config = model.required(ModelPart::kConfig).content;
  EXPECT_EQ(config["architectures"][0], "Gemma3ForConditionalGeneration");
  EXPECT_EQ(config["mm_tokens_per_image"], 16) << "(16 px / 2 px / 2) squared";
  EXPECT_EQ(config["text_config"]["model_type"], "gemma3_text");
  EXPECT_EQ(config["text_config"]["sliding_window_pattern"], 2);
  EXPECT_EQ(model.required(ModelPart::kProcessor).content["image_seq_length"], 16);
  EXPECT_EQ(model.required(ModelPart::kImageProcessor).content["size"]["height"], 16);
  const TensorFile& tower = *model.tensors().files.at(1);
  EXPECT_TRUE(tower.tensor("multi_modal_projector.mm_soft_emb_norm.weight").with_one);
  EXPECT_FALSE(tower.tensor("multi_modal_projector.mm_input_projection_weight").with_one);
  EXPECT_FALSE(tower.tensor("vision_tower.vision_model.post_layernorm.weight").with_one);
  EXPECT_EQ(tower.tensors().size(), 39U) << "all of them have a name";
  const TensorFile& text = *model.tensors().files.at(0);
  EXPECT_TRUE(text.tensor("model.language_model.layers.1.post_feedforward_layernorm.weight").with_one);
}

TEST_F(GgufEyes, AGlmsReleaseIsToldByItsPositions) {
  const GgufModel newer(golden("glm4v/bounds") + "model.gguf");
  const Json& config = newer.required(ModelPart::kConfig).content;
  EXPECT_EQ(config["architectures"][0], "Glm4vForConditionalGeneration");
  EXPECT_EQ(config["processor_class"], "Glm46VProcessor");
  EXPECT_EQ(config["text_config"]["model_type"], "glm4v_text");
  EXPECT_EQ(config["text_config"]["rope_scaling"]["mrope_section"], (std::vector<int>{2, 1, 1}));
  EXPECT_TRUE(config["text_config"]["rotary_pairs_in_halves"]);
  EXPECT_TRUE(config["vision_config"]["attention_bias"]);
  EXPECT_EQ(config["vision_config"]["intermediate_size"], 20) << "the merger's";
  EXPECT_EQ(newer.required(ModelPart::kImageProcessor).content["size"]["longest_edge"], 9'633'792) << "as published";
  EXPECT_EQ(newer.required(ModelPart::kVideoProcessor).content["size"]["longest_edge"], 47'040'000);
  const TensorFile& tower = *newer.tensors().files.at(1);
  EXPECT_EQ(tower.tensor("visual.downsample.weight").shape, (std::vector<std::int64_t>{32, 8, 2, 2}));
  for (const char* name : {"visual.patch_embed.proj.1.weight", "visual.patch_embed.proj.bias", "visual.blocks.1.attn.qkv.bias",
                           "visual.embeddings.position_embedding.weight", "visual.merger.post_projection_norm.bias"})
    EXPECT_TRUE(tower.tensors().contains(name)) << name;
  EXPECT_EQ(tower.tensors().size(), 30U) << "all of them have a name";
  const GgufModel older(golden("glm4v/thinking") + "model.gguf");
  EXPECT_EQ(older.required(ModelPart::kConfig).content["processor_class"], "Glm4vProcessor");
  EXPECT_FALSE(older.required(ModelPart::kConfig).content["vision_config"]["attention_bias"]);
  EXPECT_EQ(older.required(ModelPart::kImageProcessor).content["size"]["longest_edge"], 2560) << "where the file says it";
}

// llama.cpp's first files of GLM-4V say nothing of positions with several axes, and have q and k as the folder has them.
TEST_F(GgufEyes, AGlmWithoutSectionsHasThePublishedOnes) {
  const auto text_of = [](const char* architecture) {
    const std::string name = architecture;
    GgufWriter text;
    text.text("general.architecture", architecture).text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", "glm4");
    text.texts("tokenizer.ggml.tokens", {"a", "<|image|>", "<|begin_of_image|>", "<|end_of_image|>"});
    text.uint32(name + ".block_count", 1).uint32(name + ".context_length", 64).uint32(name + ".embedding_length", 256);
    text.uint32(name + ".feed_forward_length", 4).uint32(name + ".attention.head_count", 2).uint32(name + ".rope.dimension_count", 64);
    if (name == "glm4moe") text.uint32("glm4moe.expert_count", 4).uint32("glm4moe.expert_used_count", 2);
    return text.uint32(name + ".expert_feed_forward_length", 4);
  };
  const auto tower = [] {
    return mmproj("glm4v", 256)
        .tensor("mm.patch_merger.weight", {3, 3, 8, 256}, kGgufF32, std::string(3 * 3 * 8 * 256 * 4, '\0'))
        .tensor("mm.gate.weight", {256, 4}, kGgufF32, std::string(256 * 4 * 4, '\0'));
  };
  const std::string seeing = write("mmproj-glm.gguf", tower());
  const GgufModel experts(write("experts.gguf", text_of("glm4moe")), seeing);
  const Json& config = experts.required(ModelPart::kConfig).content;
  EXPECT_EQ(config["architectures"][0], "Glm4vMoeForConditionalGeneration");
  EXPECT_EQ(config["text_config"]["model_type"], "glm4v_moe_text");
  EXPECT_EQ(config["text_config"]["rope_scaling"]["mrope_section"], (std::vector<int>{8, 12, 12}));
  EXPECT_EQ(config["vision_config"]["model_type"], "glm4v_moe_vision");
  EXPECT_EQ(config["vision_config"]["spatial_merge_size"], 3) << "as large as its kernel";
  EXPECT_EQ(config["processor_class"], "Glm4vProcessor");
  EXPECT_EQ(experts.required(ModelPart::kImageProcessor).content["size"]["shortest_edge"], 16 * 12 * 12);
  test::expect_error(ErrorCode::kUnsupportedModel, "architecture glm4", [&] { GgufModel(write("text.gguf", text_model()), seeing); });
  const GgufModel dense(write("dense.gguf", text_of("glm4")), seeing);
  const Json& text = dense.required(ModelPart::kConfig).content["text_config"];
  EXPECT_EQ(text["rope_scaling"]["mrope_section"], (std::vector<int>{8, 12, 12}));
  EXPECT_FALSE(text["rotary_pairs_in_halves"]) << "neighbours, as in the folder";
}

TEST_F(GgufEyes, ALlavaSaysWhetherItTiles) {
  const GgufModel square(golden("llava/llava_llama") + "model.gguf");
  const Json& config = square.required(ModelPart::kConfig).content;
  EXPECT_EQ(config["architectures"][0], "LlavaForConditionalGeneration");
  EXPECT_EQ(config["vision_config"]["hidden_act"], "quick_gelu");
  EXPECT_EQ(config["vision_config"]["num_hidden_layers"], 2) << "what lies behind the features is left out";
  EXPECT_EQ(config["vision_feature_layer"], -1);
  EXPECT_EQ(square.required(ModelPart::kImageProcessor).content["crop_size"]["height"], 16);
  const GgufModel tiled(golden("llava/next_mistral") + "model.gguf");
  EXPECT_EQ(tiled.required(ModelPart::kConfig).content["model_type"], "llava_next");
  EXPECT_EQ(tiled.required(ModelPart::kImageProcessor).content["image_grid_pinpoints"][3], (std::vector<int>{48, 16}));
  const TensorFile& tower = *tiled.tensors().files.at(1);
  for (const char* name : {"image_newline", "multi_modal_projector.linear_2.weight", "vision_tower.vision_model.embeddings.class_embedding",
                           "vision_tower.vision_model.pre_layrnorm.bias"})
    EXPECT_TRUE(tower.tensors().contains(name)) << name;
  EXPECT_EQ(tower.tensor("vision_tower.vision_model.encoder.layers.1.mlp.fc1.weight").shape, (std::vector<std::int64_t>{48, 24}));
}

TEST_F(GgufEyes, AnInternVlSaysOfWhichKindItsTowerIs) {
  const GgufModel large(golden("internvl/llama_published") + "model.gguf");
  const Json& config = large.required(ModelPart::kConfig).content;
  EXPECT_EQ(config["vision_config"]["norm_type"], "rms_norm");
  EXPECT_TRUE(config["vision_config"]["use_qk_norm"]);
  EXPECT_FALSE(config["vision_config"]["attention_bias"]);
  EXPECT_EQ(config["downsample_ratio"], 0.5);
  const GgufModel small(golden("internvl/qwen2_saved") + "model.gguf");
  EXPECT_EQ(small.required(ModelPart::kConfig).content["vision_config"]["norm_type"], "layer_norm");
  EXPECT_EQ(small.required(ModelPart::kImageProcessor).content["max_patches"], 6);
  EXPECT_EQ(small.required(ModelPart::kProcessor).content["image_seq_length"], 4);
  const TensorFile& tower = *small.tensors().files.at(1);
  EXPECT_TRUE(tower.tensors().contains("vision_tower.encoder.layer.1.lambda_2"));
  EXPECT_EQ(tower.tensor("vision_tower.embeddings.cls_token").shape.size(), 3U);
  EXPECT_EQ(tower.tensor("vision_tower.embeddings.position_embeddings").shape.size(), 3U);
}

TEST_F(GgufEyes, AMiniCpmVSaysHowManyPatchesATokenHasAndWhereTheyAreJoined) {
  const GgufModel model(golden("minicpmv/published") + "model.gguf");
  const Json& config = model.required(ModelPart::kConfig).content;
  EXPECT_EQ(config["architectures"][0], "MiniCPMV4_6ForConditionalGeneration");
  EXPECT_EQ(config["text_config"]["model_type"], "qwen3_5_text");
  EXPECT_EQ(config["downsample_mode"], "16x");
  EXPECT_EQ(config["insert_layer_id"], 0);
  EXPECT_EQ(config["vision_config"]["image_size"], 6 * 4) << "of the table of positions, whole patches";
  const Json& pixels = model.required(ModelPart::kImageProcessor).content;
  EXPECT_EQ(pixels["scale_resolution"], 48);
  EXPECT_EQ(pixels["downsample_mode"], "16x");
  const TensorFile& tower = *model.tensors().files.at(1);
  EXPECT_EQ(tower.tensors().size(), 75U) << "all of them have a name";
  for (const auto& [name, tensor] : tower.tensors())
    EXPECT_TRUE(name.starts_with("model.vision_tower.") || name.starts_with("model.merger."));
}

TEST_F(GgufEyes, AMiniCpmVWithoutItsKeysIsAsPublished) {
  const auto told = [&](GgufWriter writer) {
    writer.uint32("clip.vision.image_size", 448).uint32("clip.vision.patch_size", 14).uint32("clip.vision.embedding_length", 8);
    writer.uint32("clip.vision.feed_forward_length", 12)
        .uint32("clip.vision.block_count", 27)
        .uint32("clip.vision.attention.head_count", 2);
    writer.tensor("v.position_embd.weight", {8, 4900}, kGgufF32, std::string(8 * 4900 * 4, '\0'));
    return GgufProjector(write("mmproj.gguf", writer), "qwen35")
        .config({{"tie_word_embeddings", true}}, {"<|video_pad|>", "<|image_pad|>"});
  };
  const auto of = [] {
    GgufWriter writer;
    return writer.text("general.architecture", "clip").text("clip.projector_type", "minicpmv4_6");
  };
  const Json config = told(of());
  EXPECT_EQ(config["downsample_mode"], "16x");
  EXPECT_EQ(config["insert_layer_id"], 6);
  EXPECT_EQ(config["image_token_id"], 1);
  EXPECT_EQ(config["vision_config"]["image_size"], 980);
  EXPECT_EQ(told(of().uint32("clip.vision.projector.scale_factor", 2))["downsample_mode"], "4x");
  test::expect_error(ErrorCode::kUnsupportedModel, "made of 3 patches a side",
                     [&] { told(of().uint32("clip.vision.projector.scale_factor", 3)); });
}

// LLaVA's text models were converted apart from their vision encoders: with the vocabulary of the Llama, and no or another template.
TEST_F(GgufEyes, ATextModelThatNeverSawAPictureIsToldOfThem) {
  const auto text_of = [](const char* fourth) {
    GgufWriter text;
    text.text("general.architecture", "llama").text("tokenizer.ggml.model", "llama");
    text.texts("tokenizer.ggml.tokens", {"<unk>", "<s>", "</s>", fourth, "b"}).uint32("tokenizer.ggml.unknown_token_id", 0);
    text.float32s("tokenizer.ggml.scores", {0, 0, 0, -1, -2}).int32s("tokenizer.ggml.token_type", {2, 3, 3, 6, 1});
    text.uint32("tokenizer.ggml.bos_token_id", 1).text("tokenizer.chat_template", "{{ messages[0]['content'] }}");
    text.uint32("llama.block_count", 1).uint32("llama.context_length", 64).uint32("llama.embedding_length", 4);
    text.uint32("llama.feed_forward_length", 4).uint32("llama.attention.head_count", 2).uint32("llama.attention.head_count_kv", 1);
    return text;
  };
  const std::string model = write("model.gguf", text_of("<0x00>"));
  const auto llava = [](std::uint64_t wide) {
    GgufWriter writer = mmproj("mlp", 768);  // what CLIP projects to, which is not used
    const std::string square(wide * wide * 4, '\0');
    return writer.tensor("mm.0.weight", {8, wide}, kGgufF32, std::string(8 * wide * 4, '\0'))
        .tensor("mm.2.weight", {wide, wide}, kGgufF32, square)
        .tensor("v.class_embd", {8}, kGgufF32, std::string(32, '\0'))
        .tensor("v.blk.0.ffn_up.weight", {12, 8}, kGgufF32, std::string(384, '\0'));
  };
  const auto norm = [](GgufWriter writer) { return writer.tensor("v.pre_ln.weight", {8}, kGgufF32, std::string(32, '\0')); };
  const GgufModel seeing(model, write("mmproj.gguf", norm(llava(4))));
  EXPECT_EQ(seeing.required(ModelPart::kConfig).content["image_token_id"], 0) << "the token for unknown text";
  EXPECT_EQ(seeing.tokenizer().added_tokens.at(0).content, "<image>");
  EXPECT_EQ(seeing.tokenizer().prefix, std::vector<std::string>{"<s>"}) << "a SentencePiece model puts it there unless told otherwise";
  EXPECT_NE(seeing.chat_template("").source.find("ASSISTANT:"), std::string::npos);
  GgufWriter next = norm(llava(4));
  next.tensor("model.image_newline", {4}, kGgufF32, std::string(16, '\0'));
  const GgufModel tiling(model, write("next.gguf", next));
  EXPECT_EQ(tiling.required(ModelPart::kConfig).content["model_type"], "llava_next");
  EXPECT_NE(tiling.chat_template("").source.find("[INST]"), std::string::npos) << "shared keys are Mistral's";
  const std::string other = write("other.gguf", llava(4));
  test::expect_error(ErrorCode::kUnsupportedModel, "its vision tower is no CLIP", [&] { GgufModel(model, other); });
  GgufWriter normed = norm(llava(4));
  normed.tensor("mm.3.weight", {4, 4}, kGgufF32, std::string(64, '\0'));
  const std::string yi = write("yi.gguf", normed);
  test::expect_error(ErrorCode::kUnsupportedModel, "norms behind its layers, as Yi-VL's", [&] { GgufModel(model, yi); });
  const std::string letters = write("letters.gguf", text_of("a"));
  const std::string right = write("right.gguf", norm(llava(4)));
  test::expect_error(ErrorCode::kUnsupportedModel, "lacks <image>", [&] { GgufModel(letters, right); });
  const std::string wider = write("wider.gguf", norm(llava(8)));
  test::expect_error(ErrorCode::kUnsupportedModel, "tokens of 8 features, and the text model's have 4", [&] { GgufModel(model, wider); });
}

TEST_F(GgufEyes, WithoutItsEyesItReadsText) {
  const std::string text = folder_.write("alone.gguf", test::file_text(golden("qwen2_vl/published") + "model.gguf"));
  const GgufModel model(text);
  EXPECT_EQ(model.required(ModelPart::kConfig).content["model_type"], "qwen2");
  EXPECT_EQ(model.document(ModelPart::kImageProcessor), nullptr);
  const GgufModel seeing(text, golden("qwen2_vl/published") + "mmproj-model.gguf");
  EXPECT_EQ(seeing.required(ModelPart::kConfig).content["model_type"], "qwen2_vl") << "named, they may lie anywhere";
}

TEST_F(GgufEyes, OfThoseBesideItTheFirstThatBelongsToItIsTaken) {
  const std::string text = write("model.gguf", text_model());
  folder_.write("mmproj-a.gguf", "GGUF");            // damaged
  write("mmproj-b.gguf", mmproj("idefics3", 8));     // of a wider model
  write("mmproj-c.gguf", mmproj("paligemma"));       // of a kind that is not run
  write("mmproj-d.gguf", mmproj("qwen2vl_merger"));  // of another architecture
  EXPECT_EQ(GgufModel(text).files().size(), 1U);
  write("mmproj-f.gguf", mmproj());
  write("mmproj-e.gguf", mmproj());
  EXPECT_EQ(GgufModel(text).files().back().first, "mmproj-e.gguf");
}

TEST_F(GgufEyes, OllamasManifestSaysWhoseEyesTheyAre) {
  const auto blob = [](char digit) { return "blobs/sha256-" + std::string(64, digit); };
  const auto manifest = [](char model, char projector) {
    return R"({"layers":[{"mediaType":"application/vnd.ollama.image.projector","digest":"sha256:)" + std::string(64, projector) +
           R"("},{"mediaType":"application/vnd.ollama.image.model","digest":"sha256:)" + std::string(64, model) + R"("}]})";
  };
  fs::create_directories(folder_.file("blobs"));
  fs::create_directories(folder_.file("manifests/registry.ollama.ai/library/smolvlm"));
  const std::string text = write(blob('a'), text_model());
  write(blob('b'), mmproj());
  EXPECT_EQ(open_package(text)->files().size(), 1U) << "they lie beside each other, as all blobs do";
  folder_.write("manifests/registry.ollama.ai/library/smolvlm/other", manifest('e', 'b'));
  folder_.write("manifests/registry.ollama.ai/library/smolvlm/broken", "{");
  EXPECT_EQ(open_package(text)->files().size(), 1U) << "another model's";
  folder_.write("manifests/registry.ollama.ai/library/smolvlm/latest", manifest('a', 'b'));
  EXPECT_EQ(open_package(text)->files().back().first, fs::path(blob('b')).filename());
  folder_.write("manifests/registry.ollama.ai/library/smolvlm/latest",
                R"({"layers":[{"mediaType":"application/vnd.ollama.image.projector",)"
                R"("digest":"sha256:../../elsewhere"}]})");
  EXPECT_EQ(open_package(text)->files().size(), 1U);
}

TEST_F(GgufEyes, TheWordMayStandAnywhereInTheirName) {
  for (const char* name : {"mmproj-model-f16.gguf", "llava-v1.6-mistral-7b.mmproj-f16.gguf", "MMPROJ.gguf"})
    EXPECT_TRUE(names_projector(name)) << name;
  for (const char* name : {"mmproj-model.safetensors", "llava.gguf"}) EXPECT_FALSE(names_projector(name)) << name;
}

TEST_F(GgufEyes, NamedOnesThatDoNotBelongToItAreRefused) {
  const std::string text = write("model.gguf", text_model());
  const auto refused = [&](const GgufWriter& writer, const char* reason) {
    const std::string file = write("other.gguf", writer);
    test::expect_error(ErrorCode::kUnsupportedModel, reason, [&] { GgufModel(text, file); });
  };
  refused(mmproj("idefics3", 8), "tokens of 8 features, and the text model's have 4");
  refused(mmproj("paligemma"),
          "does not run the projector \"paligemma\"; it runs gemma3, gemma4uv, gemma4v, glm4v, idefics3, internvl, lfm2, minicpmv4_6, mlp, "
          "pixtral, qwen2.5vl_merger, qwen2vl_merger");
  refused(mmproj("qwen2vl_merger"), "architecture qwen2vl");
  refused(text_model(), "not an mmproj file");
  const std::string deaf = write("deaf.gguf", [] {
    GgufWriter writer;
    writer.text("general.architecture", "llama").texts("tokenizer.ggml.tokens", {"a", "<image>"});
    return writer.uint32("llama.block_count", 1)
        .uint32("llama.context_length", 64)
        .uint32("llama.embedding_length", 4)
        .uint32("llama.feed_forward_length", 4)
        .uint32("llama.attention.head_count", 2);
  }());
  const std::string right = write("right.gguf", mmproj());
  test::expect_error(ErrorCode::kUnsupportedModel, "lacks <fake_token_around_image>", [&] { GgufModel(deaf, right); });
  test::expect_error(ErrorCode::kUnsupportedModel, "vision encoder (mmproj); choose the model's own file", [&] { open_package(right); });
  fs::create_directory(folder_.file("folder"));
  folder_.write("folder/config.json", "{}");
  test::expect_error(ErrorCode::kInvalidArgument, "belongs to a GGUF file", [&] { open_package(folder_.file("folder"), right); });
}

// Converters of 2023 and 2024 wrote a block's first product as the second.
TEST_F(GgufEyes, ProductsThatAreNamedTheWrongWayRoundAreToldByTheirShapes) {
  const std::string text = write("model.gguf", text_model());
  const auto named = [&](const char* first, const char* second) {
    const std::string data(8 * 12 * 4, '\0');
    return GgufModel(text, write("other.gguf", mmproj().tensor(first, {8, 12}, kGgufF32, data).tensor(second, {12, 8}, kGgufF32, data)));
  };
  for (const auto& [first, second] :
       {std::pair("v.blk.0.ffn_up.weight", "v.blk.0.ffn_down.weight"), std::pair("v.blk.0.ffn_down.weight", "v.blk.0.ffn_up.weight")}) {
    const GgufModel model = named(first, second);
    EXPECT_EQ(model.tensors().files.at(1)->tensor("model.vision_model.encoder.layers.0.mlp.fc1.weight").shape,
              (std::vector<std::int64_t>{12, 8}))
        << first;
  }
}

// Whatever stands in the file: documents and tensors, or one sentence.
TEST_F(GgufEyes, DamagedOnesAreRefused) {
  std::mt19937 random(7);
  int refused = 0;
  for (const auto& [family, architecture] :
       {std::pair("smolvlm/smolvlm2_split", "llama"), std::pair("qwen2_5_vl/published", "qwen2vl"),
        std::pair("llava/next_mistral", "llama"), std::pair("internvl/qwen2_saved", "qwen2"), std::pair("gemma3/published", "gemma3"),
        std::pair("minicpmv/published", "qwen35"), std::pair("glm4v/thinking", "glm4")}) {
    const GgufModel text(folder_.write("alone.gguf", test::file_text(golden(family) + "model.gguf")));
    const Json config = text.required(ModelPart::kConfig).content;
    const std::vector<std::string> tokens = {
        "<image>",   "<fake_token_around_image>", "<|image_pad|>",    "<|video_pad|>", "<IMG_CONTEXT>", "<img>",   "<image_soft_token>",
        "<|image|>", "<|begin_of_image|>",        "<|end_of_image|>", "</image>",      "<slice>",       "</slice>"};
    const std::string whole = test::file_text(golden(std::string(family)) + "mmproj-model.gguf");
    const std::size_t header = whole.find("v.blk.0.");  // of the first tensors, behind the metadata
    ASSERT_NE(header, std::string::npos);
    for (int mutation = 0; mutation < 2000; ++mutation) {
      std::string bytes = whole;
      for (int change = 0; change < 1 + mutation % 3; ++change)
        bytes[random() % (header + 2000)] = static_cast<char>(mutation % 2 == 0 ? random() : bytes[random() % header]);
      if (mutation % 7 == 0) bytes.resize(random() % bytes.size());
      try {
        const GgufProjector mmproj(folder_.write("other.gguf", bytes), architecture);
        mmproj.misfit({architecture, 32, tokens});
        mmproj.config(config, tokens);
        mmproj.processor();
        mmproj.image_processor();
        mmproj.video_processor();
        mmproj.chat_template(config, tokens);
        mmproj.tensors();
      } catch (const Exception& exception) {
        ++refused;
        EXPECT_FALSE(exception.error().reason.empty());
        EXPECT_NE(exception.error().code, ErrorCode::kInternal) << exception.error().reason;
      }
    }
  }
  EXPECT_GT(refused, 2000);
}

}  // namespace
}  // namespace winnow
