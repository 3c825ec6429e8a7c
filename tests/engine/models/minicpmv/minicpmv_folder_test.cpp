// What a MiniCPM-V says about itself: as it is published, as its classes complete it, and what is refused by name.
#include "engine/models/minicpmv/minicpmv_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "tests/support/config_exercise.h"
#include "tests/support/expect_error.h"

namespace winnow::minicpmv_test {
namespace {

using test::expect_error;

// As openbmb/MiniCPM-V-4.6 has it, without what nobody reads and with four layers of the decoder.
Json published() {
  return Json::parse(R"({
    "architectures": ["MiniCPMV4_6ForConditionalGeneration"], "model_type": "minicpmv4_6", "eos_token_id": 248044, "image_size": 1120,
    "image_token_id": 248056, "video_token_id": 248057, "insert_layer_id": 6, "merge_kernel_size": [2, 2], "merger_times": 1,
    "drop_vision_last_layer": false, "tie_word_embeddings": true,
    "text_config": {"model_type": "qwen3_5_text", "attention_bias": false, "attn_output_gate": true, "eos_token_id": null,
      "full_attention_interval": 4, "head_dim": 256, "hidden_act": "silu", "hidden_size": 1024, "intermediate_size": 3584,
      "layer_types": ["linear_attention", "linear_attention", "linear_attention", "full_attention"], "linear_conv_kernel_dim": 4,
      "linear_key_head_dim": 128, "linear_num_key_heads": 16, "linear_num_value_heads": 16, "linear_value_head_dim": 128,
      "max_position_embeddings": 262144, "num_attention_heads": 8, "num_hidden_layers": 4, "num_key_value_heads": 2,
      "partial_rotary_factor": 0.25, "rms_norm_eps": 1e-06, "tie_word_embeddings": true, "vocab_size": 248094,
      "rope_parameters": {"partial_rotary_factor": 0.25, "rope_theta": 10000000, "rope_type": "default"}},
    "vision_config": {"model_type": "minicpmv4_6_vision", "hidden_act": "gelu_pytorch_tanh", "hidden_size": 1152, "image_size": 980,
      "insert_layer_id": 6, "intermediate_size": 4304, "layer_norm_eps": 1e-06, "num_attention_heads": 16, "num_channels": 3,
      "num_hidden_layers": 27, "patch_size": 14, "window_kernel_size": [2, 2]}})");
}

Json pixels() {
  return Json::parse(R"({"image_processor_type": "MiniCPMV4_6ImageProcessor", "downsample_mode": "16x", "max_slice_nums": 9,
    "patch_size": 14, "resample": 3, "scale_resolution": 448, "slice_mode": true, "use_image_id": true, "stack_frames": 1})");
}

Json with(Json document, const char* pointer, const char* value) {
  document[Json::json_pointer(pointer)] = Json::parse(value);
  return document;
}

MiniCpmVConfig parse(const Json& document) { return parse_minicpmv_config(document, "config.json"); }

MiniCpmVFolder read(const Json& config, const Json& image, const Json& video) {
  return read_minicpmv(
      test::DocumentsAlone({{ModelPart::kConfig, config}, {ModelPart::kImageProcessor, image}, {ModelPart::kVideoProcessor, video}}));
}

TEST(MiniCpmVConfig, ReadsThePublishedFile) {
  const MiniCpmVConfig config = parse(published());
  EXPECT_EQ(config.text.recurrent, (std::vector<bool>{true, true, true, false}));
  EXPECT_EQ(config.text.head_dim, 256);
  EXPECT_EQ(config.text.rotary.rotated, 64);
  EXPECT_TRUE(config.text.rotary.frequency_axis.empty()) << "one axis";
  EXPECT_TRUE(config.text.tie_word_embeddings);
  EXPECT_EQ(config.vision.layers, 27);
  EXPECT_EQ(config.vision.head_dim, 72);
  EXPECT_EQ(config.vision.table_side, 70);
  EXPECT_EQ(config.vision.merger_layer, 6);
  EXPECT_EQ(config.joined, 4);
  EXPECT_EQ(config.image_token_id, 248'056);
  EXPECT_EQ(config.video_token_id, 248'057);
}

TEST(MiniCpmVConfig, TheRootSaysWhatTheClassAsksItFor) {
  EXPECT_EQ(parse(with(published(), "/vision_config/insert_layer_id", "3")).vision.merger_layer, 6);
  EXPECT_EQ(parse(with(published(), "/insert_layer_id", "3")).vision.merger_layer, 3);
  EXPECT_FALSE(parse(with(published(), "/tie_word_embeddings", "false")).text.tie_word_embeddings);
  EXPECT_EQ(parse(with(published(), "/downsample_mode", "\"4x\"")).joined, 2);
}

TEST(MiniCpmVConfig, RefusesWhatItDoesNotRun) {
  const auto refused = [](ErrorCode code, const char* subject, const char* pointer, const char* value) {
    expect_error(code, subject, [&] { parse(with(published(), pointer, value)); });
  };
  refused(ErrorCode::kUnsupportedModel, "model_type", "/model_type", "\"minicpmv4_8\"");
  refused(ErrorCode::kUnsupportedModel, "text_config.model_type", "/text_config/model_type", "\"qwen3\"");
  refused(ErrorCode::kUnsupportedModel, "vision_config.model_type", "/vision_config/model_type", "\"siglip_vision_model\"");
  refused(ErrorCode::kUnsupportedModel, "downsample_mode", "/downsample_mode", "\"8x\"");
  refused(ErrorCode::kUnsupportedModel, "merge_kernel_size", "/merge_kernel_size", "[4, 4]");
  refused(ErrorCode::kUnsupportedModel, "vision_config.window_kernel_size", "/vision_config/window_kernel_size", "[2, 4]");
  refused(ErrorCode::kUnsupportedModel, "merger_times", "/merger_times", "2");
  refused(ErrorCode::kUnsupportedModel, "vision_config.num_channels", "/vision_config/num_channels", "1");
  refused(ErrorCode::kDamagedFile, "insert_layer_id", "/insert_layer_id", "27");
  refused(ErrorCode::kDamagedFile, "insert_layer_id", "/insert_layer_id", "-1");
  refused(ErrorCode::kDamagedFile, "vision_config.image_size", "/vision_config/image_size", "13");
  refused(ErrorCode::kLimitExceeded, "vision_config.image_size", "/vision_config/image_size", "10000");
  refused(ErrorCode::kDamagedFile, "vision_config.num_attention_heads", "/vision_config/num_attention_heads", "7");
  refused(ErrorCode::kDamagedFile, "video_token_id", "/video_token_id", "248056");
  refused(ErrorCode::kDamagedFile, "image_token_id", "/image_token_id", "null");
  refused(ErrorCode::kDamagedFile, "image_token_id", "/image_token_id", "248094");
}

// 4.7: what its configuration has besides.
Json canvas() {
  Json config = published();
  config["model_type"] = "minicpmv4_7";
  config["architectures"] = {"MiniCPMV4_7ForConditionalGeneration"};
  config["vision_config"]["model_type"] = "minicpmv4_7_vision";
  config["image_start_id"] = 248'058;
  config["image_end_id"] = 248'059;
  config["slice_start_id"] = 248'060;
  config["slice_end_id"] = 248'061;
  config["newline_id"] = 198;
  return config;
}

TEST(MiniCpmVConfig, OfTheNextVersionNamesTheMarksThatPositionsGoBy) {
  const MiniCpmVConfig config = parse(canvas());
  ASSERT_TRUE(config.marks);
  EXPECT_EQ(config.marks->begin, 248'058);
  EXPECT_EQ(config.marks->slice_end, 248'061);
  EXPECT_EQ(config.marks->line, 198);
  EXPECT_FALSE(parse(published()).marks);
  const std::vector<std::int64_t>& axes = config.text.rotary.frequency_axis;
  ASSERT_EQ(axes.size(), 32U) << "of a quarter of 256 elements";
  EXPECT_EQ(std::ranges::count(axes, 0), 11);
  EXPECT_EQ(std::ranges::count(axes, 2), 10);
  const auto one = parse(with(canvas(), "/text_config/rope_parameters/mrope_section", "[16, 8, 8]")).text.rotary.frequency_axis;
  EXPECT_EQ(std::ranges::count(one, 1), 8);
}

TEST(MiniCpmVConfig, RefusesTheNextVersionWithoutItsMarks) {
  for (const char* key : {"image_start_id", "image_end_id", "slice_start_id", "slice_end_id", "newline_id"}) {
    for (const char* value : {"null", "248094", "-1"})
      expect_error(ErrorCode::kDamagedFile, key, [&] { parse(with(canvas(), (std::string("/") + key).c_str(), value)); });
  }
  expect_error(ErrorCode::kUnsupportedModel, "vision_config.model_type",
               [] { parse(with(canvas(), "/vision_config/model_type", "\"minicpmv4_6_vision\"")); });
  expect_error(ErrorCode::kDamagedFile, "mrope_section",
               [] { parse(with(canvas(), "/text_config/rope_parameters/mrope_section", "[16, 16, 16]")); });
}

TEST(MiniCpmVFolder, FramesAreNotCutWhateverTheirFileSays) {
  const MiniCpmVFolder folder = read(published(), pixels(), pixels());
  EXPECT_EQ(folder.image.slices.most_slices, 9);
  EXPECT_EQ(folder.frame.slices.most_slices, 1);
  EXPECT_EQ(folder.frame.slices.scale_px, 448);
  EXPECT_TRUE(folder.numbers_images);
  EXPECT_EQ(folder.image.patches.scaling.mean[0], 0.5);
}

TEST(MiniCpmVFolder, TheProcessorsSayWhatIsWrittenAndCut) {
  EXPECT_FALSE(read(published(), with(pixels(), "/use_image_id", "false"), pixels()).numbers_images);
  EXPECT_EQ(read(published(), with(pixels(), "/slice_mode", "false"), pixels()).image.slices.most_slices, 1);
  EXPECT_EQ(read(published(), with(pixels(), "/max_slice_nums", "36"), pixels()).image.slices.most_slices, 36);
  // The processor's own word goes before its image processor's.
  const Json nested = {{"image_processor", pixels()}, {"video_processor", pixels()}, {"use_image_id", false}};
  EXPECT_FALSE(read_minicpmv(test::DocumentsAlone({{ModelPart::kConfig, published()}, {ModelPart::kProcessor, nested}})).numbers_images);
}

TEST(MiniCpmVFolder, FramesWithoutADocumentArePreparedAsImages) {
  const Json nested = {{"image_processor", with(pixels(), "/scale_resolution", "224")}};
  const MiniCpmVFolder folder = read_minicpmv(test::DocumentsAlone({{ModelPart::kConfig, published()}, {ModelPart::kProcessor, nested}}));
  EXPECT_EQ(folder.frame.slices.scale_px, 224);
}

TEST(MiniCpmVFolder, RefusesProcessorsOfAnotherModel) {
  const auto refused = [](ErrorCode code, const char* subject, const char* pointer, const char* value) {
    expect_error(code, subject, [&] { read(published(), with(pixels(), pointer, value), pixels()); });
  };
  refused(ErrorCode::kDamagedFile, "patch_size", "/patch_size", "16");
  refused(ErrorCode::kDamagedFile, "downsample_mode", "/downsample_mode", "\"4x\"");
  refused(ErrorCode::kUnsupportedModel, "do_resize", "/do_resize", "false");
  refused(ErrorCode::kLimitExceeded, "max_slice_nums", "/max_slice_nums", "65");
  refused(ErrorCode::kLimitExceeded, "scale_resolution", "/scale_resolution", "2000");
  expect_error(ErrorCode::kUnsupportedModel, "stack_frames", [] { read(published(), pixels(), with(pixels(), "/stack_frames", "3")); });
  expect_error(ErrorCode::kFileNotFound, "preprocessor_config.json", [] {
    read_minicpmv(test::DocumentsAlone({{ModelPart::kConfig, published()}}));
  });
}

}  // namespace
}  // namespace winnow::minicpmv_test
