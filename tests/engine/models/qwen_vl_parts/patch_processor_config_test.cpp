#include "engine/models/qwen_vl_parts/patch_processor_config.h"

#include <gtest/gtest.h>

#include "engine/model_files/hugging_face_folder.h"
#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"

namespace winnow::qwen_vl_parts_test {
namespace {

using test::expect_error;

PatchProcessorConfig parse(const std::string& text) {
  const Json document = parse_json(text, "p.json");
  return parse_patch_processor(JsonObject(document, "p.json"), {});
}

TEST(PatchProcessorConfig, ReadsEveryField) {
  const PatchProcessorConfig config = parse(
      R"({"patch_size": 16, "merge_size": 3, "temporal_patch_size": 4, "min_pixels": 100, "max_pixels": 90000, "resample": 2,
          "image_mean": [0.5, 0.4, 0.3], "image_std": 0.5, "rescale_factor": 0.5, "do_normalize": false})");
  EXPECT_EQ(config.patches.cell_px(), 48);
  EXPECT_EQ(config.patches.joined_frames, 4);
  EXPECT_EQ(config.min_pixels, 100);
  EXPECT_EQ(config.max_pixels, 90'000);
  EXPECT_EQ(config.filter, ResampleFilter::kBilinear);
  EXPECT_EQ(config.scaling.mean[1], 0.4);
  EXPECT_EQ(config.scaling.standard_deviation[2], 0.5);
  EXPECT_FALSE(config.scaling.normalize);
}

TEST(PatchProcessorConfig, ReadsBothFormsOfTheBounds) {
  const PatchProcessorConfig edges = parse(R"({"size": {"shortest_edge": 3136, "longest_edge": 12845056}})");
  EXPECT_EQ(edges.min_pixels, 3136);
  EXPECT_EQ(edges.max_pixels, 12'845'056);
  const PatchProcessorConfig both = parse(R"({"size": {"shortest_edge": 10, "longest_edge": 20000}, "max_pixels": 30000})");
  EXPECT_EQ(both.min_pixels, 10);
  EXPECT_EQ(both.max_pixels, 30'000);
  // As transformers 4 saved it: the size has the other form's names, and the bounds stand beside it.
  const PatchProcessorConfig twice =
      parse(R"({"size": {"min_pixels": 3136, "max_pixels": 12845056}, "min_pixels": 3136, "max_pixels": 12845056})");
  EXPECT_EQ(twice.max_pixels, 12'845'056);
  expect_error(ErrorCode::kUnsupportedModel, "size.shortest_edge", [] { parse(R"({"size": {"min_pixels": 1, "max_pixels": 2}})"); });
  expect_error(ErrorCode::kUnsupportedModel, "size.longest_edge", [] { parse(R"({"size": {"shortest_edge": 9}})"); });
}

TEST(PatchProcessorConfig, BoundsOfAWholeVideoAreItsSizeAlone) {
  const Json document =
      parse_json(R"({"size": {"shortest_edge": 10, "longest_edge": 20000}, "min_pixels": 5, "max_pixels": 90000})", "p.json");
  PatchProcessorConfig defaults;
  defaults.counted = CountedPixels::kOfVideo;
  const PatchProcessorConfig config = parse_patch_processor(JsonObject(document, "p.json"), defaults);
  EXPECT_EQ(config.min_pixels, 10);
  EXPECT_EQ(config.max_pixels, 20'000);
  EXPECT_EQ(config.counted, CountedPixels::kOfVideo);
}

TEST(PatchProcessorConfig, WhatScalesPixelsHasTheClassesDefaults) {
  const Json document = parse_json(R"({"image_mean": [0.1, 0.2, 0.3]})", "p.json");
  PatchProcessorConfig defaults;
  defaults.scaling.standard_deviation = {0.5, 0.5, 0.5};
  const PatchProcessorConfig config = parse_patch_processor(JsonObject(document, "p.json"), defaults);
  EXPECT_EQ(config.scaling.mean[2], 0.3);
  EXPECT_EQ(config.scaling.standard_deviation[2], 0.5);
}

TEST(PatchProcessorConfig, NamesTheKeyOfEveryBadValue) {
  struct Case {
    const char* text;
    ErrorCode code;
    const char* words;
  };
  const Case cases[] = {
      {R"({"patch_size": 0})", ErrorCode::kDamagedFile, "patch_size"},
      {R"({"patch_size": 100000})", ErrorCode::kLimitExceeded, "patch_size"},
      {R"({"merge_size": -1})", ErrorCode::kDamagedFile, "merge_size"},
      {R"({"temporal_patch_size": 0})", ErrorCode::kDamagedFile, "temporal_patch_size"},
      {R"({"min_pixels": 0})", ErrorCode::kDamagedFile, "min_pixels"},
      {R"({"max_pixels": 1000000000000})", ErrorCode::kLimitExceeded, "max_pixels"},
      {R"({"max_pixels": 60000000, "patch_size": 1})", ErrorCode::kLimitExceeded, "tokens"},
      {R"({"size": 5})", ErrorCode::kDamagedFile, "size"},
      {R"({"do_resize": false})", ErrorCode::kUnsupportedModel, "do_resize"},
      {R"({"resample": 1})", ErrorCode::kUnsupportedModel, "resample"},
      {R"({"image_std": [0.5, 0.5]})", ErrorCode::kDamagedFile, "image_std"},
  };
  for (const Case& each : cases) expect_error(each.code, each.words, [&] { parse(each.text); });
}

TEST(PatchProcessorConfig, FramesHaveTheirOwnDocumentTheImagesOrTheDefaults) {
  const test::ScratchFolder folder;
  QwenVlProcessors defaults;
  defaults.video.min_pixels = 128 * 28 * 28;
  defaults.video.max_pixels = 768 * 28 * 28;
  const auto read = [&] { return read_patch_processors(HuggingFaceFolder(folder.path()), {}, defaults); };
  EXPECT_EQ(read().image.max_pixels, 1280 * 28 * 28);
  EXPECT_EQ(read().video.max_pixels, 768 * 28 * 28);
  folder.write("preprocessor_config.json", R"({"max_pixels": 5000})");
  EXPECT_EQ(read().image.max_pixels, 5000);
  EXPECT_EQ(read().video.max_pixels, 5000);
  EXPECT_EQ(read().video.min_pixels, 128 * 28 * 28) << "what the images' document does not say is the frames' default";
  folder.write("video_preprocessor_config.json", R"({"max_pixels": 6000})");
  EXPECT_EQ(read().video.max_pixels, 6000);
  folder.write("processor_config.json", R"({"image_processor": {"max_pixels": 7000}, "video_processor": {"max_pixels": 8000}})");
  EXPECT_EQ(read().image.max_pixels, 7000);
  EXPECT_EQ(read().video.max_pixels, 8000);
  folder.write("processor_config.json", R"({"image_processor": {"patch_size": 7}})");
  expect_error(ErrorCode::kDamagedFile, "processor_config.json: image_processor.patch_size", [&] { read(); });
}

}  // namespace
}  // namespace winnow::qwen_vl_parts_test
