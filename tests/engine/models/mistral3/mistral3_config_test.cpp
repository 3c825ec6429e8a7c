// What a Mistral 3 with eyes says about itself: as it is published, as its classes complete it, and what is refused by name.
#include "engine/models/mistral3/mistral3_config.h"

#include <gtest/gtest.h>

#include "tests/support/config_exercise.h"
#include "tests/support/expect_error.h"
#include "tests/support/source_folder.h"

namespace winnow::mistral3_test {
namespace {

using test::expect_error;

// As mistralai/Mistral-Small-3.1-24B-Instruct-2503 has it.
Json published_config() {
  return Json::parse(R"({
    "architectures": ["Mistral3ForConditionalGeneration"], "image_token_index": 10, "model_type": "mistral3",
    "multimodal_projector_bias": false, "projector_hidden_act": "gelu", "spatial_merge_size": 2, "vision_feature_layer": -1,
    "text_config": {"head_dim": 128, "hidden_act": "silu", "hidden_size": 5120, "intermediate_size": 32768,
      "max_position_embeddings": 131072, "model_type": "mistral", "num_attention_heads": 32, "num_hidden_layers": 40,
      "num_key_value_heads": 8, "rms_norm_eps": 1e-05, "rope_theta": 1000000000.0, "sliding_window": null, "vocab_size": 131072},
    "vision_config": {"head_dim": 64, "hidden_act": "silu", "hidden_size": 1024, "image_size": 1540, "intermediate_size": 4096,
      "model_type": "pixtral", "num_attention_heads": 16, "num_channels": 3, "num_hidden_layers": 24, "patch_size": 14,
      "rope_theta": 10000.0}})");
}

// The text model of mistralai/Ministral-3-3B-Instruct-2512.
Json ministral_text() {
  return Json::parse(R"({"head_dim": 128, "hidden_act": "silu", "hidden_size": 3072, "intermediate_size": 9216,
    "max_position_embeddings": 262144, "model_type": "ministral3", "num_attention_heads": 32, "num_hidden_layers": 26,
    "num_key_value_heads": 8, "rms_norm_eps": 1e-05, "sliding_window": null, "vocab_size": 131072, "tie_word_embeddings": true,
    "rope_parameters": {"beta_fast": 32.0, "beta_slow": 1.0, "factor": 16.0, "llama_4_scaling_beta": 0.1, "mscale": 1.0,
      "mscale_all_dim": 1.0, "original_max_position_embeddings": 16384, "rope_theta": 1000000.0, "rope_type": "yarn", "type": "yarn"}})");
}

Json published_pixels() {
  return Json::parse(R"({
    "do_convert_rgb": true, "do_normalize": true, "do_rescale": true, "do_resize": true,
    "image_mean": [0.48145466, 0.4578275, 0.40821073], "image_processor_type": "PixtralImageProcessorFast",
    "image_std": [0.26862954, 0.26130258, 0.27577711], "patch_size": {"height": 14, "width": 14}, "resample": 3,
    "rescale_factor": 0.00392156862745098, "size": {"longest_edge": 1540}})");
}

Json published_processor() {
  return Json::parse(R"({"image_break_token": "[IMG_BREAK]", "image_end_token": "[IMG_END]", "image_token": "[IMG]", "patch_size": 14,
    "processor_class": "PixtralProcessor", "spatial_merge_size": 2})");
}

Mistral3Folder read(const Json& config, const Json& pixels, const Json& processor) {
  return read_mistral3(
      test::DocumentsAlone({{ModelPart::kConfig, config}, {ModelPart::kImageProcessor, pixels}, {ModelPart::kProcessor, processor}}));
}

Json with(Json document, const char* pointer, const char* value) {
  document[Json::json_pointer(pointer)] = Json::parse(value);
  return document;
}

TEST(Mistral3Config, ReadsThePublishedFiles) {
  const Mistral3Folder folder = read(published_config(), published_pixels(), published_processor());
  EXPECT_EQ(folder.model.text.layers, 40);
  EXPECT_EQ(folder.model.text.head_dim, 128);
  EXPECT_TRUE(folder.model.text.windows.empty());
  EXPECT_FALSE(folder.model.text.query_growth);
  EXPECT_FALSE(folder.model.text.tie_word_embeddings);
  EXPECT_EQ(folder.model.vision.layers, 24);
  EXPECT_EQ(folder.model.vision.head_dim, 64);
  EXPECT_EQ(folder.model.image_token_id, 10);
  EXPECT_EQ(folder.pixels.patches.cell_px(), 28);
  EXPECT_EQ(folder.pixels.filter, ResampleFilter::kBicubic);
  EXPECT_EQ(folder.longest_edge_px, 1540);
}

TEST(Mistral3Config, QueriesOfMinistralGrow) {
  Json config = published_config();
  config["text_config"] = ministral_text();
  const Mistral3Folder folder = read(config, published_pixels(), published_processor());
  ASSERT_TRUE(folder.model.text.query_growth);
  EXPECT_EQ(folder.model.text.query_growth->strength, 0.1);
  EXPECT_EQ(folder.model.text.query_growth->step, 16'384);
  EXPECT_EQ(folder.model.text.max_positions, 262'144);
  EXPECT_EQ(folder.model.text.rotary.magnitude, 1.0) << "both scales are 1";
  EXPECT_TRUE(folder.model.text.tie_word_embeddings);
  config["text_config"]["rope_parameters"].erase("llama_4_scaling_beta");
  expect_error(ErrorCode::kDamagedFile, "llama_4_scaling_beta", [&] { read(config, published_pixels(), published_processor()); });
}

TEST(Mistral3Config, FeaturesAreOfAnEarlierLayerWhereTheFileSaysSo) {
  EXPECT_EQ(read(with(published_config(), "/vision_feature_layer", "-2"), published_pixels(), published_processor()).model.vision.layers,
            23);
  EXPECT_EQ(read(with(published_config(), "/vision_feature_layer", "5"), published_pixels(), published_processor()).model.vision.layers, 5);
}

TEST(Mistral3Config, RefusesWhatItDoesNotRun) {
  const auto refused = [](ErrorCode code, const char* subject, const Json& config, const Json& pixels) {
    expect_error(code, subject, [&] { read(config, pixels, published_processor()); });
  };
  const Json config = published_config();
  const Json pixels = published_pixels();
  refused(ErrorCode::kUnsupportedModel, "vision_feature_layer", with(config, "/vision_feature_layer", "[1, 2]"), pixels);
  refused(ErrorCode::kUnsupportedModel, "vision_feature_layer", with(config, "/vision_feature_layer", "0"), pixels);
  refused(ErrorCode::kUnsupportedModel, "vision_config.model_type", with(config, "/vision_config/model_type", "\"siglip\""), pixels);
  refused(ErrorCode::kDamagedFile, "vision_config.head_dim", with(config, "/vision_config/head_dim", "32"), pixels);
  refused(ErrorCode::kLimitExceeded, "vision_config.image_size", with(config, "/vision_config/image_size", "1000000"), pixels);
  refused(ErrorCode::kUnsupportedModel, "size", config, with(pixels, "/size", R"({"height": 10, "width": 10})"));
  refused(ErrorCode::kDamagedFile, "size.longest_edge", config, with(pixels, "/size/longest_edge", "1541"));
  refused(ErrorCode::kUnsupportedModel, "do_resize", config, with(pixels, "/do_resize", "false"));
  refused(ErrorCode::kDamagedFile, "patch_size", with(config, "/vision_config/patch_size", "16"), pixels);
  expect_error(ErrorCode::kDamagedFile, "spatial_merge_size",
               [&] { read(config, pixels, with(published_processor(), "/spatial_merge_size", "3")); });
}

TEST(Mistral3Pictures, SizesEqualTheReference) {
  const Json golden = load_json(source_folder() + "/tests/golden/mistral3/sizes.json");
  ASSERT_GE(golden["sizes"].size(), 150U);
  for (const Json& row : golden["sizes"]) {
    const PixelSize size = pixtral_size({row[2], row[3]}, row[0], row[1]);
    EXPECT_EQ(size.height_px, row[4].get<std::int64_t>()) << row.dump();
    EXPECT_EQ(size.width_px, row[5].get<std::int64_t>()) << row.dump();
  }
}

// transformers makes no tokens of it.
TEST(Mistral3Pictures, ASideIsNeverLessThanAPixel) {
  const PixelSize size = pixtral_size({1, 200}, 36, 6);
  EXPECT_EQ(size.height_px, 6);
  EXPECT_EQ(size.width_px, 36);
}

}  // namespace
}  // namespace winnow::mistral3_test
