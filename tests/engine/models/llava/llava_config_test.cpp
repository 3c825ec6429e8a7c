#include "engine/models/llava/llava_config.h"

#include <gtest/gtest.h>

#include "engine/model_files/hugging_face_folder.h"
#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"

namespace winnow::llava_test {
namespace {

using test::expect_error;

// As llava-hf/llava-1.5-7b-hf has it: nearly nothing of the decoder.
Json published() {
  return Json::parse(R"({
    "architectures": ["LlavaForConditionalGeneration"], "ignore_index": -100, "image_token_index": 32000, "model_type": "llava",
    "pad_token_id": 32001, "projector_hidden_act": "gelu", "tie_word_embeddings": false, "torch_dtype": "float16", "vocab_size": 32064,
    "text_config": {"_name_or_path": "lmsys/vicuna-7b-v1.5", "architectures": ["LlamaForCausalLM"], "max_position_embeddings": 4096,
      "model_type": "llama", "rms_norm_eps": 1e-05, "torch_dtype": "float16", "vocab_size": 32064},
    "vision_config": {"hidden_size": 1024, "image_size": 336, "intermediate_size": 4096, "model_type": "clip_vision_model",
      "num_attention_heads": 16, "num_hidden_layers": 24, "patch_size": 14, "projection_dim": 768, "vocab_size": 32000},
    "vision_feature_layer": -2, "vision_feature_select_strategy": "default"})");
}

// As llava-hf/llava-v1.6-mistral-7b-hf has it.
Json published_next() {
  Json document = published();
  document["model_type"] = "llava_next";
  document["image_grid_pinpoints"] = Json::parse("[[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]]");
  document["text_config"] = Json::parse(R"({"_name_or_path": "mistralai/Mistral-7B-Instruct-v0.2", "intermediate_size": 14336,
    "max_position_embeddings": 32768, "model_type": "mistral", "num_key_value_heads": 8, "rms_norm_eps": 1e-05, "rope_theta": 1000000.0,
    "sliding_window": null, "torch_dtype": "bfloat16", "vocab_size": 32064})");
  return document;
}

Json published_video() {
  Json document = published();
  document["model_type"] = "llava_next_video";
  document["image_token_index"] = 32001;
  document["video_token_index"] = 32000;
  document["spatial_pool_mode"] = "average";
  document["spatial_pool_stride"] = 2;
  return document;
}

LlavaConfig parse(const Json& document) {
  return parse_llava_config(document, "config.json", document.value("model_type", std::string("llava")));
}

Json with(Json document, const char* pointer, const char* value) {
  document[Json::json_pointer(pointer)] = Json::parse(value);
  return document;
}

TEST(LlavaConfig, TakesFromTheClassWhatAPublishedFileLeavesOut) {
  const LlavaConfig config = parse(published());
  EXPECT_EQ(config.text.hidden_size, 4096);
  EXPECT_EQ(config.text.intermediate_size, 11'008);
  EXPECT_EQ(config.text.layers, 32);
  EXPECT_EQ(config.text.heads, 32);
  EXPECT_EQ(config.text.kv_heads, 32);
  EXPECT_EQ(config.text.head_dim, 128);
  EXPECT_EQ(config.text.max_positions, 4096);
  EXPECT_EQ(config.text.norm_eps, 1e-5);
  EXPECT_EQ(config.text.vocabulary, 32'064);
  EXPECT_TRUE(config.vision.class_token);
  EXPECT_EQ(config.vision.activation, Activation::kQuickGelu);
  EXPECT_EQ(config.vision.layer_norm_eps, 1e-5);
  EXPECT_EQ(config.vision.patches_per_side, 24);
  EXPECT_EQ(config.feature_states, std::vector<std::int64_t>{23});
  EXPECT_EQ(config.features(), 576);
  EXPECT_FALSE(config.sight.tiles);
  EXPECT_EQ(config.image_token_id, 32'000);
  EXPECT_EQ(config.video_token_id, -1);
}

TEST(LlavaConfig, AMistralHasItsOwnDefaults) {
  const LlavaConfig config = parse(published_next());
  EXPECT_EQ(config.text.kv_heads, 8);
  EXPECT_EQ(config.text.max_positions, 32'768);
  EXPECT_TRUE(config.text.windows.empty()) << "a window that is null is none";
  EXPECT_EQ(config.text.rotary.theta, 1e6);
  EXPECT_TRUE(config.sight.tiles);
  EXPECT_FALSE(config.grid.max_tiles.has_value());
  EXPECT_EQ(config.grid.pinpoints.size(), 5U);
  Json silent = published_next();
  for (const char* key : {"sliding_window", "num_key_value_heads", "max_position_embeddings", "intermediate_size"})
    silent["text_config"].erase(key);
  const DecoderConfig text = parse(silent).text;
  EXPECT_EQ(text.kv_heads, 8);
  EXPECT_EQ(text.intermediate_size, 14'336);
  EXPECT_EQ(text.max_positions, 131'072);
  EXPECT_EQ(text.windows, std::vector<std::int64_t>(32, 4096)) << "a window that is not mentioned is MistralConfig's";
}

TEST(LlavaConfig, TheRestOfItIsOptionalToo) {
  const LlavaConfig bare = parse(Json::parse(R"({"text_config": {"vocab_size": 32064}})"));
  EXPECT_EQ(bare.text.hidden_size, 4096);
  EXPECT_EQ(bare.vision.layers, 24) << "CLIP ViT-L/14 at 336 px";
  EXPECT_EQ(bare.vision.image_size_px, 336);
  EXPECT_EQ(bare.feature_states, std::vector<std::int64_t>{23});
  EXPECT_TRUE(bare.drops_first());
  EXPECT_TRUE(bare.projector_bias);
  const LlavaConfig video = parse(published_video());
  EXPECT_EQ(video.frame_side(), 12);
  EXPECT_EQ(video.grid.pinpoints.size(), 5U);
  EXPECT_EQ(video.video_token_id, 32'000);
}

TEST(LlavaConfig, CountsFeaturesByTowerAndStrategy) {
  EXPECT_EQ(parse(with(published(), "/vision_feature_select_strategy", "\"full\"")).features(), 577);
  Json siglip = with(published(), "/vision_config/model_type", "\"siglip_vision_model\"");
  EXPECT_EQ(parse(siglip).features(), 575) << "without a class token the first patch goes";
  EXPECT_EQ(parse(with(siglip, "/vision_feature_select_strategy", "\"full\"")).features(), 576);
  EXPECT_EQ(parse(with(published(), "/vision_feature_layer", "[-2, -5, 1]")).feature_states, (std::vector<std::int64_t>{23, 20, 1}));
}

TEST(LlavaConfig, NamesTheKeyOfEveryBadValue) {
  struct Case {
    Json document;
    const char* pointer;
    const char* value;
    ErrorCode code;
    const char* subject;
  };
  const std::vector<Case> cases = {
      {published(), "/model_type", "7", ErrorCode::kDamagedFile, "model_type"},
      {published(), "/text_config", "[]", ErrorCode::kDamagedFile, "text_config"},
      {published(), "/text_config", "null", ErrorCode::kDamagedFile, "text_config"},
      {published(), "/text_config/model_type", "\"opt\"", ErrorCode::kUnsupportedModel, "text_config.model_type"},
      {published(), "/text_config/hidden_size", "-1", ErrorCode::kDamagedFile, "text_config.hidden_size"},
      {published(), "/text_config/num_hidden_layers", "1000000000", ErrorCode::kLimitExceeded, "text_config.num_hidden_layers"},
      {published(), "/text_config/vocab_size", "32000", ErrorCode::kDamagedFile, "image_token_index"},
      {published(), "/vision_config/model_type", "\"pixtral\"", ErrorCode::kUnsupportedModel, "vision_config.model_type"},
      {published(), "/vision_config/patch_size", "0", ErrorCode::kDamagedFile, "vision_config.patch_size"},
      {published(), "/vision_config/hidden_size", "null", ErrorCode::kDamagedFile, "vision_config.hidden_size"},
      {published(), "/vision_feature_layer", "25", ErrorCode::kLimitExceeded, "vision_feature_layer"},
      {published(), "/vision_feature_layer", "[]", ErrorCode::kDamagedFile, "vision_feature_layer"},
      {published(), "/vision_feature_select_strategy", "\"cls\"", ErrorCode::kUnsupportedModel, "vision_feature_select_strategy"},
      {published(), "/projector_hidden_act", "\"tanh\"", ErrorCode::kUnsupportedModel, "projector_hidden_act"},
      {published_next(), "/vision_feature_select_strategy", "\"full\"", ErrorCode::kUnsupportedModel, "vision_feature_select_strategy"},
      {published_next(), "/image_grid_pinpoints", "[336, 672]", ErrorCode::kDamagedFile, "image_grid_pinpoints"},
      {published_next(), "/image_grid_pinpoints", "[[16384, 16384]]", ErrorCode::kLimitExceeded, "image_grid_pinpoints"},
      {published_video(), "/video_token_index", "32001", ErrorCode::kDamagedFile, "video_token_index"},
      {published_video(), "/spatial_pool_mode", "\"conv\"", ErrorCode::kUnsupportedModel, "spatial_pool_mode"},
      {published_video(), "/spatial_pool_stride", "4", ErrorCode::kUnsupportedModel, "spatial_pool_stride"},
      {published_video(), "/vision_config/image_size", "322", ErrorCode::kUnsupportedModel, "spatial_pool_stride"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.pointer) + " = " + c.value);
    const std::string type = c.document["model_type"];
    expect_error(c.code, std::string("config.json: ") + c.subject + ":",
                 [&] { parse_llava_config(with(c.document, c.pointer, c.value), "config.json", type); });
  }
}

TEST(LlavaConfig, AnyMemberOfAnyTypeIsReadOrRefused) {
  const std::vector<const char*> values = {"null", "true", "0", "-1", "1e300", "\"x\"", "[]", "{}", "[[]]", "18446744073709551615"};
  for (const Json& document : {published(), published_next(), published_video()}) {
    const std::string type = document["model_type"];
    const Json flat = document.flatten();
    for (const auto& [pointer, ignored] : flat.items()) {
      for (const char* value : values) {
        try {
          parse_llava_config(with(document, pointer.c_str(), value), "config.json", type);
        } catch (const Exception& exception) {
          EXPECT_NE(exception.error().code, ErrorCode::kInternal) << pointer << " = " << value << ": " << exception.what();
        }
      }
    }
  }
}

class LlavaFolderTest : public ::testing::Test {
 protected:
  LlavaFolderTest() {
    write("config.json", published());
    write("preprocessor_config.json", clip());
  }
  // As llava-hf/llava-1.5-7b-hf has it.
  static Json clip() {
    return Json::parse(R"({"crop_size": {"height": 336, "width": 336}, "do_center_crop": true, "do_normalize": true, "do_rescale": true,
      "do_resize": true, "image_processor_type": "CLIPImageProcessor", "processor_class": "LlavaProcessor", "resample": 3,
      "rescale_factor": 0.00392156862745098, "size": {"shortest_edge": 336}})");
  }
  void write(const char* name, const Json& document) { folder_.write(name, document.dump()); }
  LlavaFolder load(const char* model_type = "llava") { return read_llava(HuggingFaceFolder(folder_.path()), model_type); }
  PictureRules image_rules(const char* change) {
    Json document = clip();
    document.merge_patch(Json::parse(change));
    write("preprocessor_config.json", document);
    return load().processor.image;
  }
  const test::ScratchFolder folder_;
};

TEST_F(LlavaFolderTest, ImagesAreResizedByTheirShorterSideAndCropped) {
  const PictureRules rules = load().processor.image;
  EXPECT_EQ(rules.size, (PixelSize{336, 336}));
  EXPECT_EQ(rules.shortest_edge_px, 336);
  EXPECT_FALSE(rules.pad_to_square);
  EXPECT_EQ(rules.arithmetic, ResizeArithmetic::kTorch) << "transformers takes the fast form of the class that is named";
  EXPECT_EQ(rules.scaling.mean[0], 0.48145466);
}

TEST_F(LlavaFolderTest, KnowsTheProcessorsThatSuchFoldersName) {
  EXPECT_FALSE(image_rules(R"({"do_pad": true})").pad_to_square) << "CLIP's pads nothing";
  EXPECT_TRUE(image_rules(R"({"do_pad": true, "image_processor_type": "LlavaImageProcessorFast"})").pad_to_square);
  const PictureRules padded = image_rules(R"({"do_pad": true, "do_center_crop": false, "image_processor_type": "LlavaImageProcessor"})");
  EXPECT_EQ(padded.shortest_edge_px, 0) << "a square has no shorter side";
  EXPECT_EQ(padded.size.width_px, 336);
  EXPECT_EQ(
      image_rules(R"({"image_processor_type": null, "feature_extractor_type": "CLIPFeatureExtractor", "size": 336, "crop_size": 336})")
          .size,
      (PixelSize{336, 336}));
  EXPECT_EQ(image_rules(R"({"image_processor_type": null})").arithmetic, ResizeArithmetic::kPillow) << "no name: the slow form";
  const PictureRules siglip = image_rules(
      R"({"image_processor_type": "SiglipImageProcessor", "do_center_crop": null, "crop_size": null, "size": {"shortest_edge": null, "height": 336, "width": 336}})");
  EXPECT_EQ(siglip.shortest_edge_px, 0);
  EXPECT_EQ(siglip.scaling.mean[0], 0.5);
}

TEST_F(LlavaFolderTest, RefusesWhatItDoesNotDoByName) {
  const auto refuse = [&](const char* change, const char* subject) {
    expect_error(ErrorCode::kUnsupportedModel, std::string("preprocessor_config.json: ") + subject, [&] { image_rules(change); });
  };
  refuse(R"({"do_resize": false})", "do_resize");
  refuse(R"({"do_center_crop": false})", "size");
  refuse(R"({"size": {"shortest_edge": 336, "longest_edge": 672}})", "size");
  refuse(R"({"crop_size": {"height": 336, "width": 224}})", "size");
  refuse(R"({"resample": 0})", "resample");
  refuse(R"({"image_processor_type": "ViTImageProcessor"})", "image_processor_type");
  refuse(R"({"image_processor_type": "LlavaNextImageProcessor"})", "image_processor_type");
}

TEST_F(LlavaFolderTest, RefusesFilesThatContradictEachOther) {
  const auto refuse = [&](const char* name, const char* text, const char* subject) {
    write(name, Json::parse(text));
    expect_error(ErrorCode::kDamagedFile, subject, [&] { load(); });
  };
  refuse("preprocessor_config.json", R"({"image_processor_type": "CLIPImageProcessor"})", "size: it differs");
  write("preprocessor_config.json", clip());
  write("processor_config.json",
        Json::parse(R"({"patch_size": 14, "num_additional_image_tokens": 1, "vision_feature_select_strategy": "default"})"));
  EXPECT_NO_THROW(load());
  write("processor_config.json", Json::parse(R"({"patch_size": 14, "vision_feature_select_strategy": "default"})"));
  EXPECT_NO_THROW(load()) << "as versions wrote it that counted the class token by themselves";
  refuse("processor_config.json", R"({"patch_size": 16})", "patch_size: it differs");
  refuse("processor_config.json", R"({"num_additional_image_tokens": 0})", "num_additional_image_tokens: ");
  refuse("processor_config.json", R"({"vision_feature_select_strategy": "full"})", "vision_feature_select_strategy: it differs");
}

TEST_F(LlavaFolderTest, AFolderThatSaysNothingOfImagesIsRefused) {
  const test::ScratchFolder bare;
  bare.write("config.json", published().dump());
  expect_error(ErrorCode::kFileNotFound, "how images are prepared", [&] { read_llava(HuggingFaceFolder(bare.path()), "llava"); });
}

TEST_F(LlavaFolderTest, VideosHaveTheirOwnFileOrTheImages) {
  write("config.json", published_video());
  Json tiled = clip();
  tiled["image_processor_type"] = "LlavaNextImageProcessor";
  write("preprocessor_config.json", tiled);
  const LlavaProcessorConfig alone = load("llava_next_video").processor;
  EXPECT_EQ(alone.image.shortest_edge_px, 0) << "a tile is a tile";
  EXPECT_EQ(alone.grid_pinpoints.size(), 5U);
  EXPECT_EQ(alone.video.shortest_edge_px, 336);
  Json video = clip();
  video.erase("image_processor_type");
  video["resample"] = 2;
  write("video_preprocessor_config.json", video);
  EXPECT_EQ(load("llava_next_video").processor.video.filter, ResampleFilter::kBilinear);
  write("processor_config.json",
        Json::parse(R"({"video_processor": {"size": {"shortest_edge": 336}, "crop_size": 336, "image_mean": 0.5}})"));
  EXPECT_EQ(load("llava_next_video").processor.video.scaling.mean[1], 0.5) << "what is nested goes first";
  tiled["crop_size"] = 224;
  write("preprocessor_config.json", tiled);
  expect_error(ErrorCode::kUnsupportedModel, "preprocessor_config.json: crop_size", [&] { load("llava_next_video"); });
}

}  // namespace
}  // namespace winnow::llava_test
