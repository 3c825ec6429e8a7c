// A folder as the LLaVA-NeXT repository saves it, without running it: documents, tokens, template, names. What comes out of its weights:
// models/llava_onevision/llava_onevision_test.cpp.
#include "engine/model_files/llava_repository.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "engine/base/error.h"
#include "engine/model_files/hugging_face_folder.h"
#include "engine/text/chat_template.h"
#include "tests/support/scratch_folder.h"

namespace winnow {
namespace {

// As lmms-lab/LLaVA-Video-7B-Qwen2 has it, shortened.
Json published_config() {
  return {{"architectures", {"LlavaQwenForCausalLM"}},
          {"model_type", "llava"},
          {"hidden_size", 3584},
          {"intermediate_size", 18944},
          {"num_hidden_layers", 28},
          {"num_attention_heads", 28},
          {"num_key_value_heads", 4},
          {"vocab_size", 152064},
          {"rms_norm_eps", 1e-6},
          {"rope_theta", 1000000.0},
          {"tie_word_embeddings", false},
          {"image_aspect_ratio", "anyres_max_9"},
          {"image_grid_pinpoints", {{384, 384}, {384, 768}}},
          {"mm_vision_tower", "google/siglip-so400m-patch14-384"},
          {"mm_projector_type", "mlp2x_gelu"},
          {"mm_resampler_type", nullptr},
          {"mm_patch_merge_type", "spatial_unpad"},
          {"mm_spatial_pool_mode", "bilinear"},
          {"mm_spatial_pool_stride", 2},
          {"mm_newline_position", "grid"},
          {"mm_use_im_start_end", false},
          {"add_time_instruction", true}};
}

// A header and as many zeros: of names and shapes alone.
std::string safetensors(const std::vector<std::pair<std::string, std::vector<std::int64_t>>>& shapes) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  std::int64_t bytes = 0;
  for (const auto& [name, shape] : shapes) {
    std::int64_t size = 2;
    for (const std::int64_t dimension : shape) size *= dimension;
    header[name] = {{"dtype", "BF16"}, {"shape", shape}, {"data_offsets", {bytes, bytes + size}}};
    bytes += size;
  }
  const std::string text = header.dump();
  std::string file(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) file[i] = static_cast<char>((text.size() >> (8 * i)) & 0xFF);
  return file + text + std::string(static_cast<std::size_t>(bytes), '\0');
}

constexpr char kTokenizer[] =
    R"({"added_tokens": [{"id": 2, "content": "<|im_start|>", "special": true}, {"id": 3, "content": "<|im_end|>", "special": true}],
        "model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}})";

class LlavaRepository : public ::testing::Test {
 protected:
  LlavaRepository() {
    folder_.write("tokenizer.json", kTokenizer);
    folder_.write("tokenizer_config.json", R"({"chat_template": "of Qwen, which knows no pictures", "eos_token": "<|im_end|>"})");
    std::vector<std::pair<std::string, std::vector<std::int64_t>>> shapes = {
        {"lm_head.weight", {4, 2}},
        {"model.embed_tokens.weight", {4, 2}},
        {"model.image_newline", {2}},
        {"model.mm_projector.0.bias", {2}},
        {"model.mm_projector.2.weight", {2, 2}},
        {"model.vision_tower.vision_tower.vision_model.embeddings.patch_embedding.weight", {1152, 3, 2, 14}}};
    for (int layer = 0; layer < 27; ++layer) {
      shapes.emplace_back("model.vision_tower.vision_tower.vision_model.encoder.layers." + std::to_string(layer) + ".mlp.fc1.weight",
                          std::vector<std::int64_t>{layer == 0 ? 4304 : 1, 1});
    }
    folder_.write("model.safetensors", safetensors(shapes));
    config_ = published_config();
  }
  HuggingFaceFolder opened() const {
    folder_.write("config.json", config_.dump());
    return HuggingFaceFolder(folder_.path());
  }
  Error refusal() const {
    try {
      opened().document(ModelPart::kConfig);
    } catch (const Exception& exception) {
      return exception.error();
    }
    return {ErrorCode::kInternal, "", "it was read"};
  }

  test::ScratchFolder folder_;
  Json config_;
};

TEST_F(LlavaRepository, IsToldAsTransformersWouldHaveSavedIt) {
  const HuggingFaceFolder folder = opened();
  const Json& told = folder.required(ModelPart::kConfig).content;
  EXPECT_EQ(told.at("architectures"), Json({"LlavaOnevisionForConditionalGeneration"}));
  EXPECT_EQ(told.at("text_config").at("model_type"), "qwen2");
  EXPECT_EQ(told.at("text_config").at("num_key_value_heads"), 4);
  EXPECT_EQ(told.at("vision_config"), Json({{"model_type", "siglip_vision_model"},
                                            {"hidden_size", 1152},
                                            {"intermediate_size", 4304},
                                            {"num_hidden_layers", 26},
                                            {"num_attention_heads", 16},
                                            {"image_size", 384},
                                            {"patch_size", 14},
                                            {"vision_use_head", false}}))
      << "the repository deletes the 27th layer";
  EXPECT_EQ(told.at("vision_feature_layer"), -1);
  EXPECT_EQ(told.at("vision_aspect_ratio"), "anyres_max_9");
  EXPECT_EQ(told.at("mm_newline_position"), "grid");
  EXPECT_EQ(told.at("add_time_instruction"), true);
  EXPECT_EQ(told.at("image_token_id"), 4);
  EXPECT_EQ(told.at("video_token_id"), 5);
  const Json& pixels = folder.required(ModelPart::kImageProcessor).content;
  EXPECT_EQ(pixels.at("size"), Json({{"height", 384}, {"width", 384}}));
  EXPECT_EQ(pixels.at("image_std"), Json({0.5, 0.5, 0.5}));
  EXPECT_FALSE(pixels.contains("image_processor_type")) << "Pillow's arithmetic";
}

TEST_F(LlavaRepository, PicturesHaveTokensBehindTheLastOne) {
  const std::vector<AddedToken> tokens = opened().tokenizer().added_tokens;
  ASSERT_EQ(tokens.size(), 4U);
  EXPECT_EQ(tokens[2].content, "<image>");
  EXPECT_EQ(tokens[2].id, 4);
  EXPECT_EQ(tokens[3].content, "<video>");
  EXPECT_EQ(tokens[3].id, 5);
  EXPECT_TRUE(tokens[3].special);
}

// Its ids are told in config.json, whoever asks first for what.
TEST_F(LlavaRepository, TheTokenizerIsReadOnceForBoth) {
  const HuggingFaceFolder folder = opened();
  ASSERT_TRUE(folder.required(ModelPart::kConfig).content.contains("image_token_id"));
  ASSERT_TRUE(std::filesystem::remove(folder_.file("tokenizer.json")));
  const TokenizerFile tokenizer = folder.tokenizer();
  EXPECT_EQ(tokenizer.added_tokens.size(), 4U);
  EXPECT_EQ(tokenizer.vocabulary.size(), 2U);
}

TEST_F(LlavaRepository, ATokenThatIsThereIsTaken) {
  folder_.write("tokenizer.json", R"({"added_tokens": [{"id": 2, "content": "<image>", "special": true}],
                                      "model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}})");
  const HuggingFaceFolder folder = opened();
  EXPECT_EQ(folder.required(ModelPart::kConfig).content.at("image_token_id"), 2);
  EXPECT_EQ(folder.required(ModelPart::kConfig).content.at("video_token_id"), 3);
  EXPECT_EQ(folder.tokenizer().added_tokens.size(), 2U);
}

TEST_F(LlavaRepository, TensorsHaveTheNamesOfTransformers) {
  const HuggingFaceFolder folder = opened();
  const auto& tensors = folder.tensors().files.at(0)->tensors();
  for (const char* name :
       {"language_model.lm_head.weight", "language_model.model.embed_tokens.weight", "image_newline", "multi_modal_projector.linear_1.bias",
        "multi_modal_projector.linear_2.weight", "vision_tower.vision_model.embeddings.patch_embedding.weight"}) {
    EXPECT_TRUE(tensors.contains(name)) << name;
  }
}

// conversation.py: conv_qwen, in which media stand before the question as the repository's evaluation writes them.
TEST_F(LlavaRepository, SpeaksAsItWasTrained) {
  const HuggingFaceFolder folder = opened();
  const TemplateText found = folder.chat_template("a fallback");
  EXPECT_EQ(found.eos, "<|im_end|>");
  const ChatTemplate chat(found.source);
  const auto text = [&](const std::vector<TemplateMessage>& messages) {
    std::string all;
    for (const TemplatePiece& piece : chat.render(messages, {AddGenerationPrompt::kYes})) all += piece.text;
    return all;
  };
  using Kind = TemplateContent::Kind;
  constexpr char kSystem[] = "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n";
  EXPECT_EQ(text({{"user", {{Kind::kVideo, ""}, {Kind::kText, "The video lasts."}, {Kind::kText, "What happens?"}}}}),
            std::string(kSystem) + "<|im_start|>user\n<video>\nThe video lasts.\nWhat happens?<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(text({{"user", {{Kind::kImage, ""}, {Kind::kImage, ""}, {Kind::kText, "Which?"}}},
                  {"assistant", {{Kind::kText, "This."}}},
                  {"user", {{Kind::kText, "Why?"}}}}),
            std::string(kSystem) +
                "<|im_start|>user\n<image> <image>\nWhich?<|im_end|>\n<|im_start|>assistant\nThis.<|im_end|>\n"
                "<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(text({{"system", {{Kind::kText, "Be brief."}}}, {"user", {{Kind::kText, "Hello"}}}}),
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n");
}

TEST_F(LlavaRepository, WhatItsCodeDoesBesidesIsRefusedByName) {
  const std::vector<std::pair<std::string, Json>> wrong = {{"mm_vision_tower", "openai/clip-vit-large-patch14-336"},
                                                           {"mm_projector_type", "linear"},
                                                           {"mm_resampler_type", "qformer"},
                                                           {"mm_use_im_start_end", true},
                                                           {"mm_use_im_patch_token", true}};
  for (const auto& [key, value] : wrong) {
    config_ = published_config();
    config_[key] = value;
    const Error error = refusal();
    EXPECT_EQ(error.code, ErrorCode::kUnsupportedModel) << key;
    EXPECT_EQ(error.subject, folder_.path() + "/config.json: " + key);
  }
  config_ = published_config();
  config_.erase("mm_vision_tower");
  EXPECT_EQ(refusal().code, ErrorCode::kDamagedFile);
}

TEST_F(LlavaRepository, WeightsWithoutATowerAreDamaged) {
  folder_.write("model.safetensors", safetensors({{"model.embed_tokens.weight", {4, 2}}}));
  const Error error = refusal();
  EXPECT_EQ(error.code, ErrorCode::kDamagedFile);
  EXPECT_NE(error.subject.find("patch_embedding"), std::string::npos);
}

}  // namespace
}  // namespace winnow
