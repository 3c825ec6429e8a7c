#include "engine/models/lfm2/lfm2_vl_config.h"

#include <gtest/gtest.h>

#include "tests/support/config_exercise.h"
#include "tests/support/expect_error.h"

namespace winnow::lfm2_vl_config_test {
namespace {

using test::expect_error;

// As LiquidAI/LFM2-VL-1.6B has it.
Json published_config() {
  return Json::parse(R"({
    "architectures": ["Lfm2VlForConditionalGeneration"], "model_type": "lfm2_vl", "image_token_id": 396, "downsample_factor": 2,
    "projector_bias": true, "projector_hidden_act": "gelu", "projector_hidden_size": 2560, "projector_use_layernorm": true,
    "text_config": {"model_type": "lfm2", "block_auto_adjust_ff_dim": true, "block_ff_dim": 12288, "block_ffn_dim_multiplier": 1.0,
      "block_multiple_of": 256, "conv_L_cache": 3, "conv_bias": false, "eos_token_id": 7, "full_attn_idxs": [2, 5, 8, 10, 12, 14],
      "hidden_size": 2048, "max_position_embeddings": 128000, "norm_eps": 1e-05, "num_attention_heads": 32, "num_hidden_layers": 16,
      "num_key_value_heads": 8, "rope_theta": 1000000.0, "vocab_size": 65536},
    "vision_config": {"model_type": "siglip2_vision_model", "hidden_act": "gelu_pytorch_tanh", "hidden_size": 1152,
      "intermediate_size": 4304, "layer_norm_eps": 1e-06, "num_attention_heads": 16, "num_channels": 3, "num_hidden_layers": 26,
      "num_patches": 256, "patch_size": 16, "vision_use_head": false}})");
}

Json published_pixels() {
  return Json::parse(R"({
    "do_image_splitting": true, "do_normalize": true, "do_pad": true, "do_rescale": true, "do_resize": true, "downsample_factor": 2,
    "encoder_patch_size": 16, "image_mean": [0.5, 0.5, 0.5], "image_processor_type": "Lfm2VlImageProcessorFast",
    "image_std": [0.5, 0.5, 0.5], "max_image_tokens": 256, "max_num_patches": 1024, "max_pixels_tolerance": 2.0, "max_tiles": 10,
    "min_image_tokens": 64, "min_tiles": 2, "resample": 2, "rescale_factor": 0.00392156862745098, "size": {"height": 512, "width": 512},
    "tile_size": 512, "use_thumbnail": true})");
}

Lfm2VlFolder read(const Json& config, const Json& pixels) {
  return read_lfm2_vl(test::DocumentsAlone({{ModelPart::kConfig, config}, {ModelPart::kImageProcessor, pixels}}));
}

Json with(Json document, const char* pointer, const Json& value) {
  document[Json::json_pointer(pointer)] = value;
  return document;
}

TEST(Lfm2VlConfig, ReadsThePublishedFiles) {
  const Lfm2VlFolder folder = read(published_config(), published_pixels());
  EXPECT_EQ(folder.model.text.layers, 16);
  EXPECT_EQ(folder.model.text.intermediate_size, 8192);
  EXPECT_TRUE(folder.model.text.tie_word_embeddings);
  EXPECT_EQ(folder.model.vision.layers, 26);
  EXPECT_EQ(folder.model.vision.head_dim, 72);
  EXPECT_TRUE(folder.model.vision.native_sizes);
  EXPECT_EQ(folder.model.vision.position_side, 16);
  EXPECT_EQ(folder.model.token_channels(), 4 * 1152);
  EXPECT_EQ(folder.model.image_token_id, 396);
  EXPECT_EQ(folder.pictures.cell_px(), 32);
  EXPECT_EQ(folder.pictures.tile_tokens(), 256);
  EXPECT_EQ(folder.pictures.filter, ResampleFilter::kBilinear);
}

TEST(Lfm2VlConfig, WhatFilesLeaveOutIsAsTheirClassesHaveIt) {
  Json config = published_config();
  for (const char* const key : {"image_token_id", "downsample_factor", "projector_bias", "projector_hidden_act", "projector_hidden_size",
                                "projector_use_layernorm", "vision_config"})
    config.erase(key);
  const Lfm2VlFolder folder = read(config, Json::object());
  const Lfm2VlFolder published = read(published_config(), published_pixels());
  EXPECT_EQ(folder.model.vision.hidden_size, 768);
  EXPECT_EQ(folder.model.vision.layers, 12);
  EXPECT_EQ(folder.model.image_token_id, 396);
  EXPECT_EQ(folder.model.projector_size, published.model.projector_size);
  EXPECT_EQ(folder.pictures.least_tokens, published.pictures.least_tokens);
  EXPECT_EQ(folder.pictures.tiles.side_px, published.pictures.tiles.side_px);
  EXPECT_EQ(folder.pictures.scaling.mean, published.pictures.scaling.mean);
  EXPECT_EQ(folder.pictures.filter, published.pictures.filter);
}

TEST(Lfm2VlConfig, AFolderMayCutNothing) {
  EXPECT_FALSE(read(published_config(), with(published_pixels(), "/do_image_splitting", false)).pictures.cuts());
}

TEST(Lfm2VlConfig, RefusesWhatItDoesNotRun) {
  const auto refused = [](ErrorCode code, const char* subject, const Json& config, const Json& pixels) {
    SCOPED_TRACE(subject);
    expect_error(code, subject, [&] { read(config, pixels); });
  };
  const Json config = published_config();
  const Json pixels = published_pixels();
  refused(ErrorCode::kUnsupportedModel, "text_config.model_type", with(config, "/text_config/model_type", "lfm2_moe"), pixels);
  refused(ErrorCode::kUnsupportedModel, "vision_config.model_type", with(config, "/vision_config/model_type", "siglip_vision_model"),
          pixels);
  refused(ErrorCode::kDamagedFile, "vision_config.num_patches", with(config, "/vision_config/num_patches", 250), pixels);
  refused(ErrorCode::kUnsupportedModel, "vision_config.num_channels", with(config, "/vision_config/num_channels", 4), pixels);
  refused(ErrorCode::kDamagedFile, "image_token_id", with(config, "/image_token_id", 65'536), pixels);
  refused(ErrorCode::kUnsupportedModel, "image_processor_type", config, with(pixels, "/image_processor_type", "Siglip2ImageProcessor"));
  refused(ErrorCode::kDamagedFile, "encoder_patch_size", config, with(pixels, "/encoder_patch_size", 14));
  refused(ErrorCode::kDamagedFile, "downsample_factor", config, with(pixels, "/downsample_factor", 4));
  refused(ErrorCode::kDamagedFile, "tile_size", config, with(pixels, "/tile_size", 500));
  refused(ErrorCode::kDamagedFile, "min_tiles", config, with(pixels, "/min_tiles", 11));
  refused(ErrorCode::kLimitExceeded, "max_tiles", config, with(with(pixels, "/max_tiles", 128), "/tile_size", 1024));
  refused(ErrorCode::kDamagedFile, "min_image_tokens", config, with(pixels, "/min_image_tokens", 257));
  refused(ErrorCode::kLimitExceeded, "max_image_tokens", config, with(pixels, "/max_image_tokens", 100'000));
  refused(ErrorCode::kUnsupportedModel, "resample", config, with(pixels, "/resample", 0));
}

}  // namespace
}  // namespace winnow::lfm2_vl_config_test
