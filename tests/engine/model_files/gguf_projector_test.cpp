// A GGUF model and its eyes: what both files together say, whose eyes they are, and what is refused.
#include "engine/model_files/gguf_projector.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "engine/base/error.h"
#include "engine/model_files/gguf_model.h"
#include "engine/model_files/open_package.h"
#include "tests/support/expect_error.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/golden_path.h"
#include "tests/support/scratch_folder.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;
using test::GgufWriter;

constexpr std::uint32_t kF32 = 0;

std::string bytes_of(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << stream.rdbuf();
  return bytes.str();
}

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

GgufWriter eyes(const char* type = "idefics3", std::uint32_t width = 4) {
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
  ASSERT_EQ(model.files().size(), 2U) << "another pair of eyes makes another model";
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

TEST_F(GgufEyes, WithoutItsEyesItReadsText) {
  const std::string text = folder_.write("alone.gguf", bytes_of(golden("qwen2_vl/published") + "model.gguf"));
  const GgufModel model(text);
  EXPECT_EQ(model.required(ModelPart::kConfig).content["model_type"], "qwen2");
  EXPECT_EQ(model.document(ModelPart::kImageProcessor), nullptr);
  const GgufModel seeing(text, golden("qwen2_vl/published") + "mmproj-model.gguf");
  EXPECT_EQ(seeing.required(ModelPart::kConfig).content["model_type"], "qwen2_vl") << "named, they may lie anywhere";
}

TEST_F(GgufEyes, OfThoseBesideItTheFirstThatBelongsToItIsTaken) {
  const std::string text = write("model.gguf", text_model());
  folder_.write("mmproj-a.gguf", "GGUF");          // damaged
  write("mmproj-b.gguf", eyes("idefics3", 8));     // of a wider model
  write("mmproj-c.gguf", eyes("pixtral"));         // of a kind that is not run
  write("mmproj-d.gguf", eyes("qwen2vl_merger"));  // of another architecture
  EXPECT_EQ(GgufModel(text).files().size(), 1U);
  write("mmproj-f.gguf", eyes());
  write("mmproj-e.gguf", eyes());
  EXPECT_EQ(GgufModel(text).files().back().first, "mmproj-e.gguf");
}

TEST_F(GgufEyes, NamedOnesThatDoNotBelongToItAreRefused) {
  const std::string text = write("model.gguf", text_model());
  const auto refused = [&](const GgufWriter& writer, const char* reason) {
    const std::string file = write("other.gguf", writer);
    test::expect_error(ErrorCode::kUnsupportedModel, reason, [&] { GgufModel(text, file); });
  };
  refused(eyes("idefics3", 8), "tokens of 8 features, and the text model's have 4");
  refused(eyes("pixtral"), "does not run the projector \"pixtral\"; it runs idefics3, qwen2vl_merger");
  refused(eyes("qwen2vl_merger"), "architecture qwen2vl");
  refused(text_model(), "not the file of a model's eyes");
  const std::string deaf = write("deaf.gguf", [] {
    GgufWriter writer;
    writer.text("general.architecture", "llama").texts("tokenizer.ggml.tokens", {"a", "<image>"});
    return writer.uint32("llama.block_count", 1)
        .uint32("llama.context_length", 64)
        .uint32("llama.embedding_length", 4)
        .uint32("llama.feed_forward_length", 4)
        .uint32("llama.attention.head_count", 2);
  }());
  const std::string right = write("right.gguf", eyes());
  test::expect_error(ErrorCode::kUnsupportedModel, "lacks <fake_token_around_image>", [&] { GgufModel(deaf, right); });
  test::expect_error(ErrorCode::kUnsupportedModel, "eyes alone; choose the model's own file", [&] { open_package(right); });
  fs::create_directory(folder_.file("folder"));
  folder_.write("folder/config.json", "{}");
  test::expect_error(ErrorCode::kInvalidArgument, "belongs to a GGUF file", [&] { open_package(folder_.file("folder"), right); });
}

// Converters of 2023 and 2024 wrote a block's first product as the second.
TEST_F(GgufEyes, ProductsThatAreNamedTheWrongWayRoundAreToldByTheirShapes) {
  const std::string text = write("model.gguf", text_model());
  const auto named = [&](const char* first, const char* second) {
    const std::string data(8 * 12 * 4, '\0');
    return GgufModel(text, write("other.gguf", eyes().tensor(first, {8, 12}, kF32, data).tensor(second, {12, 8}, kF32, data)));
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
  for (const char* family : {"smolvlm/smolvlm2_split", "qwen2_5_vl/published", "gemma3/published"}) {
    const GgufModel text(folder_.write("alone.gguf", bytes_of(golden(family) + "model.gguf")));
    const Json config = text.required(ModelPart::kConfig).content;
    const std::vector<std::string> tokens = {"<image>", "<fake_token_around_image>", "<|image_pad|>", "<|video_pad|>",
                                             "<image_soft_token>"};
    const std::string whole = bytes_of(golden(family) + "mmproj-model.gguf");
    const std::size_t header = whole.find("general.quantization_version");
    ASSERT_NE(header, std::string::npos);
    for (int mutation = 0; mutation < 2000; ++mutation) {
      std::string bytes = whole;
      for (int change = 0; change < 1 + mutation % 3; ++change)
        bytes[random() % (header + 2000)] = static_cast<char>(mutation % 2 == 0 ? random() : bytes[random() % header]);
      if (mutation % 7 == 0) bytes.resize(random() % bytes.size());
      try {
        const GgufProjector eyes(folder_.write("other.gguf", bytes));
        eyes.misfit({"llama", 32, tokens});
        eyes.config(config, tokens);
        eyes.processor();
        eyes.image_processor();
        eyes.tensors();
      } catch (const Exception& exception) {
        ++refused;
        EXPECT_FALSE(exception.error().reason.empty());
        EXPECT_NE(exception.error().code, ErrorCode::kInternal) << exception.error().reason;
      }
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace winnow
