#include "engine/models/internvl/internvl_config.h"

#include <gtest/gtest.h>

#include "engine/model_files/hugging_face_folder.h"
#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"

namespace winnow::internvl_test {
namespace {

using test::expect_error;

// As OpenGVLab/InternVL3-1B-hf has it, without what only training reads.
Json published_config() {
  return Json::parse(R"({
    "architectures": ["InternVLForConditionalGeneration"], "downsample_ratio": 0.5, "image_seq_length": 256, "image_token_id": 151667,
    "model_type": "internvl", "projector_hidden_act": "gelu", "vision_feature_layer": -1, "vision_feature_select_strategy": "default",
    "text_config": {"architectures": ["Qwen2ForCausalLM"], "hidden_act": "silu", "hidden_size": 896, "intermediate_size": 4864,
      "max_position_embeddings": 32768, "max_window_layers": 70, "model_type": "qwen2", "num_attention_heads": 14, "num_hidden_layers": 24,
      "num_key_value_heads": 2, "rms_norm_eps": 1e-06, "rope_scaling": {"factor": 2.0, "rope_type": "dynamic", "type": "dynamic"},
      "rope_theta": 1000000.0, "sliding_window": null, "use_sliding_window": false, "vocab_size": 151674},
    "vision_config": {"architectures": ["InternVisionModel"], "attention_bias": true, "hidden_act": "gelu", "hidden_size": 1024,
      "image_size": [448, 448], "intermediate_size": 4096, "layer_norm_eps": 1e-06, "layer_scale_init_value": 0.1,
      "model_type": "internvl_vision", "norm_type": "layer_norm", "num_attention_heads": 16, "num_channels": 3, "num_hidden_layers": 24,
      "patch_size": [14, 14], "use_absolute_position_embeddings": true, "use_mask_token": false, "use_mean_pooling": true,
      "use_qk_norm": false}})");
}

Json published_pixels() {
  return Json::parse(R"({
    "crop_size": null, "crop_to_patches": false, "data_format": "channels_first", "default_to_square": true, "do_center_crop": null,
    "do_convert_rgb": true, "do_normalize": true, "do_rescale": true, "do_resize": true, "image_mean": [0.485, 0.456, 0.406],
    "image_processor_type": "GotOcr2ImageProcessorFast", "image_std": [0.229, 0.224, 0.225], "max_patches": 12, "min_patches": 1,
    "processor_class": "InternVLProcessor", "resample": 3, "rescale_factor": 0.00392156862745098, "size": {"height": 448, "width": 448}})");
}

InternVlConfig parse(const Json& document) { return parse_internvl_config(document, "config.json"); }

Json with(Json document, const char* pointer, const char* value) {
  document[Json::json_pointer(pointer)] = Json::parse(value);
  return document;
}

TEST(InternVlConfig, ReadsThePublishedFile) {
  const InternVlConfig config = parse(published_config());
  EXPECT_EQ(config.text.heads, 14);
  EXPECT_EQ(config.text.kv_heads, 2);
  EXPECT_EQ(config.text.max_positions, 32'768);
  EXPECT_TRUE(config.text.tie_word_embeddings) << "the class's; a head that the folder has goes first";
  EXPECT_EQ(config.vision.patches_per_side, 32);
  EXPECT_EQ(config.vision.layers, 24);
  EXPECT_TRUE(config.vision.class_token);
  EXPECT_TRUE(config.vision.attention_bias);
  EXPECT_FALSE(config.vision.first_norm);
  EXPECT_FALSE(config.vision.rms_norms);
  EXPECT_TRUE(config.vision.names.query_norm.empty());
  EXPECT_EQ(config.vision.activation, Activation::kGelu);
  EXPECT_EQ(config.feature_state, 24);
  EXPECT_FALSE(config.last_norm);
  EXPECT_EQ(config.scale, 2);
  EXPECT_EQ(config.image_token_id, 151'667);
}

TEST(InternVlConfig, WhatIsLeftOutIsTheClasses) {
  Json document = published_config();
  document["vision_config"] = nullptr;
  for (const char* key : {"downsample_ratio", "image_token_id", "model_type", "vision_feature_layer", "vision_feature_select_strategy"})
    document.erase(key);
  const InternVlConfig config = parse(document);
  EXPECT_EQ(config.vision.hidden_size, 1024);
  EXPECT_EQ(config.vision.intermediate_size, 4096);
  EXPECT_EQ(config.vision.heads, 16);
  EXPECT_EQ(config.vision.patches_per_side, 32);
  EXPECT_FALSE(config.vision.attention_bias);
  EXPECT_EQ(config.vision.layer_norm_eps, 1e-6);
  EXPECT_EQ(config.scale, 2);
  EXPECT_EQ(config.image_token_id, 151'667);
}

// A state that is named by its own number has no norm, the last one by -1 has the tower's where it does not pool.
TEST(InternVlConfig, TheNormIsOfTheLastStateOnly) {
  const Json pools_not = with(published_config(), "/vision_config/use_mean_pooling", "false");
  EXPECT_TRUE(parse(pools_not).last_norm);
  const InternVlConfig by_number = parse(with(pools_not, "/vision_feature_layer", "24"));
  EXPECT_EQ(by_number.feature_state, 24);
  EXPECT_FALSE(by_number.last_norm);
  EXPECT_EQ(parse(with(pools_not, "/vision_feature_layer", "-3")).feature_state, 22);
  EXPECT_EQ(parse(with(pools_not, "/vision_feature_layer", "0")).feature_state, 0);
}

TEST(InternVlConfig, HostileFieldsAreRefusedByName) {
  const Json good = published_config();
  const auto refuses = [&](const char* pointer, const char* value, ErrorCode code, const char* words) {
    SCOPED_TRACE(std::string(pointer) + " = " + value);
    expect_error(code, words, [&] { parse(with(good, pointer, value)); });
  };
  refuses("/model_type", R"("internvl_chat")", ErrorCode::kUnsupportedModel, "model_type");
  refuses("/text_config", "null", ErrorCode::kDamagedFile, "text_config");
  refuses("/text_config/model_type", R"("gpt_oss")", ErrorCode::kUnsupportedModel, "text_config.model_type");
  refuses("/text_config/num_key_value_heads", "3", ErrorCode::kDamagedFile, "num_key_value_heads");
  refuses("/vision_config", "[]", ErrorCode::kDamagedFile, "vision_config");
  refuses("/vision_config/model_type", R"("clip_vision_model")", ErrorCode::kUnsupportedModel, "vision_config.model_type");
  refuses("/vision_config/image_size", "[448]", ErrorCode::kDamagedFile, "vision_config.image_size");
  refuses("/vision_config/image_size", "[448, 224]", ErrorCode::kUnsupportedModel, "vision_config.image_size");
  refuses("/vision_config/patch_size", "[0, 0]", ErrorCode::kDamagedFile, "vision_config.patch_size");
  refuses("/vision_config/norm_type", R"("batch_norm")", ErrorCode::kUnsupportedModel, "norm_type");
  refuses("/vision_config/use_absolute_position_embeddings", "false", ErrorCode::kUnsupportedModel, "use_absolute_position_embeddings");
  refuses("/vision_config/num_attention_heads", "7", ErrorCode::kDamagedFile, "num_attention_heads");
  refuses("/downsample_ratio", "0.3", ErrorCode::kUnsupportedModel, "downsample_ratio");
  refuses("/downsample_ratio", "0", ErrorCode::kDamagedFile, "downsample_ratio");
  refuses("/vision_feature_layer", "25", ErrorCode::kLimitExceeded, "vision_feature_layer");
  refuses("/vision_feature_layer", "[-1, -2]", ErrorCode::kUnsupportedModel, "vision_feature_layer");
  refuses("/vision_feature_select_strategy", R"("full")", ErrorCode::kUnsupportedModel, "vision_feature_select_strategy");
  refuses("/projector_hidden_act", R"("mish")", ErrorCode::kUnsupportedModel, "projector_hidden_act");
  refuses("/image_token_id", "151674", ErrorCode::kDamagedFile, "image_token_id");
}

TEST(InternVlProcessor, ImagesAreCutWhateverTheFileSays) {
  const Json document = published_pixels();
  const InternVlPixels pixels = parse_internvl_image_processor(JsonObject(document, "p"));
  EXPECT_EQ(pixels.tiles.side_px, 448);
  EXPECT_EQ(pixels.tiles.least, 1);
  EXPECT_EQ(pixels.tiles.most, 12);
  EXPECT_TRUE(pixels.tiles.thumbnail);
  EXPECT_EQ(pixels.image.arithmetic, ResizeArithmetic::kTorch);
  EXPECT_EQ(pixels.image.scaling.mean[0], 0.485);
}

TEST(InternVlProcessor, EmptyObjectsAreTheClasses) {
  const Json empty = Json::object();
  const InternVlPixels pixels = parse_internvl_image_processor(JsonObject(empty, "p"));
  EXPECT_EQ(pixels.tiles.side_px, 384);
  EXPECT_EQ(pixels.tiles.most, 12);
  EXPECT_EQ(pixels.image.filter, ResampleFilter::kBicubic);
  EXPECT_EQ(pixels.image.scaling.mean[0], 0.48145466);
}

TEST(InternVlProcessor, WhatIsNotImplementedIsRefusedByName) {
  const auto refuses = [](const char* pointer, const char* value, ErrorCode code, const char* words) {
    SCOPED_TRACE(std::string(pointer) + " = " + value);
    const Json document = with(published_pixels(), pointer, value);
    expect_error(code, words, [&] { parse_internvl_image_processor(JsonObject(document, "preprocessor_config.json")); });
  };
  refuses("/do_resize", "false", ErrorCode::kUnsupportedModel, "do_resize");
  refuses("/do_center_crop", "true", ErrorCode::kUnsupportedModel, "do_center_crop");
  refuses("/resample", "1", ErrorCode::kUnsupportedModel, "resample");
  refuses("/size", R"({"shortest_edge": 448})", ErrorCode::kUnsupportedModel, "size");
  refuses("/size", R"({"height": 448, "width": 224})", ErrorCode::kUnsupportedModel, "size");
  refuses("/size/height", "100000", ErrorCode::kLimitExceeded, "size.height");
  refuses("/max_patches", "0", ErrorCode::kDamagedFile, "max_patches");
  refuses("/max_patches", "1000", ErrorCode::kLimitExceeded, "max_patches");
  refuses("/min_patches", "13", ErrorCode::kDamagedFile, "min_patches");
  refuses("/size", R"({"height": 4096, "width": 4096})", ErrorCode::kLimitExceeded, "max_patches");
  refuses("/image_processor_type", R"("CLIPImageProcessor")", ErrorCode::kUnsupportedModel, "image_processor_type");
}

class Folder {
 public:
  Folder() {
    write("config.json", published_config());
    write("preprocessor_config.json", published_pixels());
    write("processor_config.json", {{"image_seq_length", 256}});
  }
  void write(const std::string& file, const Json& content) const { scratch_.write(file, content.dump()); }
  InternVlFolder read() const { return read_internvl(HuggingFaceFolder(scratch_.path())); }

 private:
  test::ScratchFolder scratch_;
};

TEST(InternVlFolder, FilesAgreeOrTheFolderIsRefused) {
  const Folder folder;
  const InternVlFolder read = folder.read();
  EXPECT_EQ(read.side(), 16);
  EXPECT_EQ(read.pixels.video.size, (PixelSize{448, 448})) << "a video without a file of its own has the images'";
  folder.write("processor_config.json", {{"image_seq_length", 255}});
  expect_error(ErrorCode::kDamagedFile, "image_seq_length: 255 is not the number of a tile's tokens, 256", [&] { folder.read(); });
  folder.write("processor_config.json", {{"image_seq_length", 256}});
  folder.write("video_preprocessor_config.json", Json::object());
  expect_error(ErrorCode::kDamagedFile, "size: it differs from the images'", [&] { folder.read(); });
}

TEST(InternVlFolder, TilesOfAnotherSizeThanTheTowersTableAreAllowed) {
  const Folder folder;
  folder.write("preprocessor_config.json", with(published_pixels(), "/size", R"({"height": 224, "width": 224})"));
  folder.write("processor_config.json", {{"image_seq_length", 64}});
  const InternVlFolder read = folder.read();
  EXPECT_EQ(read.model.vision.position_side, 32);
  EXPECT_EQ(read.model.vision.patches_per_side, 16);
  folder.write("preprocessor_config.json", with(published_pixels(), "/size", R"({"height": 210, "width": 210})"));
  expect_error(ErrorCode::kDamagedFile, "210 px are no patches of 14 px that 2", [&] { folder.read(); });
}

}  // namespace
}  // namespace winnow::internvl_test
