// What a Gemma 3 with eyes says about itself: as it is published, as its classes complete it, and what is refused by name.
#include "engine/models/gemma3/gemma3_folder.h"

#include <gtest/gtest.h>

#include "engine/model_files/hugging_face_folder.h"
#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"

namespace winnow::gemma3_test {
namespace {

using test::expect_error;

// As google/gemma-3-4b-it has it.
Json published_config() {
  return Json::parse(R"({
    "architectures": ["Gemma3ForConditionalGeneration"], "boi_token_index": 255999, "eoi_token_index": 256000, "eos_token_id": [1, 106],
    "image_token_index": 262144, "initializer_range": 0.02, "mm_tokens_per_image": 256, "model_type": "gemma3",
    "text_config": {"hidden_size": 2560, "intermediate_size": 10240, "model_type": "gemma3_text", "num_hidden_layers": 34,
      "rope_scaling": {"factor": 8.0, "rope_type": "linear"}, "sliding_window": 1024},
    "torch_dtype": "bfloat16", "transformers_version": "4.50.0.dev0",
    "vision_config": {"hidden_size": 1152, "image_size": 896, "intermediate_size": 4304, "model_type": "siglip_vision_model",
      "num_attention_heads": 16, "num_hidden_layers": 27, "patch_size": 14, "vision_use_head": false}})");
}

Json published_pixels() {
  return Json::parse(R"({
    "do_convert_rgb": null, "do_normalize": true, "do_pan_and_scan": null, "do_rescale": true, "do_resize": true,
    "image_mean": [0.5, 0.5, 0.5], "image_processor_type": "Gemma3ImageProcessor", "image_seq_length": 256, "image_std": [0.5, 0.5, 0.5],
    "pan_and_scan_max_num_crops": null, "pan_and_scan_min_crop_size": null, "pan_and_scan_min_ratio_to_activate": null,
    "processor_class": "Gemma3Processor", "resample": 2, "rescale_factor": 0.00392156862745098, "size": {"height": 896, "width": 896}})");
}

Gemma3Config parse(const Json& document) { return parse_gemma3_vision_config(document, "config.json"); }
Gemma3Pixels parse_pixels(const Json& document) { return parse_gemma3_image_processor(JsonObject(document, "preprocessor_config.json")); }

Json with(Json document, const char* pointer, const char* value) {
  document[Json::json_pointer(pointer)] = Json::parse(value);
  return document;
}

TEST(Gemma3Folder, ReadsThePublishedFiles) {
  const Gemma3Config config = parse(published_config());
  EXPECT_EQ(config.text.layers, 34);
  EXPECT_EQ(config.text.heads, 8);
  EXPECT_EQ(config.text.kv_heads, 4);
  EXPECT_EQ(config.text.vocabulary, 262'208);
  EXPECT_TRUE(config.text.tie_word_embeddings);
  EXPECT_EQ(config.vision.layers, 27);
  EXPECT_EQ(config.vision.patches_per_side, 64);
  EXPECT_EQ(config.side, 16);
  EXPECT_EQ(config.pooled(), 4);
  EXPECT_EQ(config.image_token_id, 262'144);
  const Gemma3Pixels pixels = parse_pixels(published_pixels());
  EXPECT_EQ(pixels.image.size.height_px, 896);
  EXPECT_EQ(pixels.image.filter, ResampleFilter::kBilinear);
  EXPECT_EQ(pixels.image.arithmetic, ResizeArithmetic::kTorch) << "transformers 5 makes the fast class of it";
  EXPECT_FALSE(pixels.crops.wanted);
  EXPECT_EQ(pixels.crops.least_px, 256);
  EXPECT_EQ(pixels.crops.most, 4);
  EXPECT_EQ(pixels.crops.least_ratio, 1.2);
}

TEST(Gemma3Folder, WhatIsLeftOutIsTheClasses) {
  const Gemma3Config config = parse(Json::parse(R"({"mm_tokens_per_image": 196})"));
  EXPECT_EQ(config.text.hidden_size, 2304);
  EXPECT_EQ(config.text.layers, 26);
  EXPECT_EQ(config.vision.hidden_size, 768);
  EXPECT_EQ(config.vision.image_size_px, 224);
  EXPECT_EQ(config.side, 14);
  EXPECT_EQ(config.pooled(), 1);
  EXPECT_EQ(config.image_token_id, 262'144);
  const Gemma3Pixels pixels = parse_pixels(Json::object());
  EXPECT_EQ(pixels.image.size.height_px, 224);
  EXPECT_EQ(pixels.image.filter, ResampleFilter::kBilinear);
  EXPECT_EQ(pixels.image.arithmetic, ResizeArithmetic::kPillow) << "the class is not named";
  EXPECT_EQ(pixels.image.scaling.mean[0], 0.5);
}

TEST(Gemma3Folder, TheWholeModelSaysWhetherItsHeadIsItsEmbedding) {
  EXPECT_FALSE(parse(with(published_config(), "/tie_word_embeddings", "false")).text.tie_word_embeddings);
  EXPECT_TRUE(parse(with(published_config(), "/text_config/tie_word_embeddings", "false")).text.tie_word_embeddings);
}

// Unlike the class that reads text alone.
TEST(Gemma3Folder, ABoundOfLogitsIsLeftAside) {
  EXPECT_EQ(parse(with(published_config(), "/text_config/final_logit_softcapping", "30.0")).text.logit_cap, 0.0);
}

TEST(Gemma3Folder, PanAndScanHasItsNumbers) {
  Json document = with(published_pixels(), "/do_pan_and_scan", "true");
  document["pan_and_scan_max_num_crops"] = 3;
  document["pan_and_scan_min_crop_size"] = 100;
  document["pan_and_scan_min_ratio_to_activate"] = 1.5;
  const CropRules crops = parse_pixels(document).crops;
  EXPECT_TRUE(crops.wanted);
  EXPECT_EQ(crops.most, 3);
  EXPECT_EQ(crops.least_px, 100);
  EXPECT_EQ(crops.least_ratio, 1.5);
}

TEST(Gemma3Folder, WhatCannotBeRunIsRefusedByItsName) {
  const auto refused = [](ErrorCode code, const char* subject, const Json& document) {
    expect_error(code, subject, [&] { parse(document); });
  };
  refused(ErrorCode::kUnsupportedModel, "model_type", with(published_config(), "/model_type", R"("gemma3n")"));
  refused(ErrorCode::kUnsupportedModel, "text_config.model_type", with(published_config(), "/text_config/model_type", R"("gemma2")"));
  refused(ErrorCode::kUnsupportedModel, "vision_config.model_type",
          with(published_config(), "/vision_config/model_type", R"("clip_vision_model")"));
  refused(ErrorCode::kUnsupportedModel, "text_config.use_bidirectional_attention",
          with(published_config(), "/text_config/use_bidirectional_attention", "true"));
  refused(ErrorCode::kDamagedFile, "mm_tokens_per_image", with(published_config(), "/mm_tokens_per_image", "200"));
  refused(ErrorCode::kDamagedFile, "mm_tokens_per_image", with(published_config(), "/mm_tokens_per_image", "1600"));
  refused(ErrorCode::kDamagedFile, "mm_tokens_per_image", with(published_config(), "/mm_tokens_per_image", "16384"));
  refused(ErrorCode::kDamagedFile, "image_token_index", with(published_config(), "/image_token_index", "262208"));
  const auto pixels_refused = [](ErrorCode code, const char* subject, const Json& document) {
    expect_error(code, subject, [&] { parse_pixels(document); });
  };
  pixels_refused(ErrorCode::kUnsupportedModel, "image_processor_type",
                 with(published_pixels(), "/image_processor_type", R"("SiglipImageProcessor")"));
  pixels_refused(ErrorCode::kUnsupportedModel, "do_resize", with(published_pixels(), "/do_resize", "false"));
  pixels_refused(ErrorCode::kUnsupportedModel, "size", with(published_pixels(), "/size/width", "448"));
  pixels_refused(ErrorCode::kUnsupportedModel, "size", with(published_pixels(), "/size", R"({"shortest_edge": 896})"));
  pixels_refused(ErrorCode::kLimitExceeded, "size.height", with(published_pixels(), "/size/height", "100000"));
  pixels_refused(ErrorCode::kLimitExceeded, "pan_and_scan_max_num_crops", with(published_pixels(), "/pan_and_scan_max_num_crops", "65"));
  Json many = with(published_pixels(), "/do_pan_and_scan", "true");
  many["pan_and_scan_max_num_crops"] = 64;
  many["size"] = {{"height", 4096}, {"width", 4096}};
  pixels_refused(ErrorCode::kLimitExceeded, "pan_and_scan_max_num_crops", many);
}

TEST(Gemma3Folder, FilesThatContradictEachOtherAreRefused) {
  const test::ScratchFolder folder;
  const auto read = [&](const Json& config, const Json& pixels, const Json& processor) {
    folder.write("config.json", config.dump());
    folder.write("preprocessor_config.json", pixels.dump());
    folder.write("processor_config.json", processor.dump());
    return read_gemma3(HuggingFaceFolder(folder.path()));
  };
  const Json processor = {{"image_seq_length", 256}, {"processor_class", "Gemma3Processor"}};
  EXPECT_EQ(read(published_config(), published_pixels(), processor).model.side, 16);
  expect_error(ErrorCode::kDamagedFile, "size", [&] {
    Json small = published_pixels();
    small["size"] = {{"height", 448}, {"width", 448}};
    read(published_config(), small, processor);
  });
  expect_error(ErrorCode::kDamagedFile, "image_seq_length", [&] {
    read(published_config(), published_pixels(), {{"image_seq_length", 64}});
  });
}

}  // namespace
}  // namespace winnow::gemma3_test
