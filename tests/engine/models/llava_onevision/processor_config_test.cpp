#include "engine/models/llava_onevision/processor_config.h"

#include <gtest/gtest.h>

#include "engine/model_files/hugging_face_folder.h"
#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"

namespace winnow::processor_config_test {
namespace {

using test::expect_error;

constexpr const char* kImage = R"({"size": {"height": 84, "width": 84}, "image_mean": [0.5, 0.4, 0.3], "image_std": [0.1, 0.2, 0.3],
  "rescale_factor": 0.5, "resample": 2, "do_normalize": false, "image_grid_pinpoints": [[84, 84], [168, 84]], "do_pad": true})";

ImageProcessorConfig parse_image(const std::string& text) {
  const Json document = parse_json(text, "p.json");
  return parse_image_processor(JsonObject(document, "p.json"));
}

// kImage with one field replaced.
std::string with(const char* key, const char* value) {
  Json document = Json::parse(kImage);
  document[key] = Json::parse(value);
  return document.dump();
}

TEST(ProcessorConfig, ReadsEveryField) {
  const ImageProcessorConfig config = parse_image(kImage);
  EXPECT_EQ(config.size, (PixelSize{84, 84}));
  EXPECT_EQ(config.filter, ResampleFilter::kBilinear);
  EXPECT_EQ(config.scaling.rescale_factor, 0.5);
  EXPECT_FALSE(config.scaling.normalize);
  EXPECT_EQ(config.scaling.mean, (std::array<double, 3>{0.5, 0.4, 0.3}));
  EXPECT_EQ(config.scaling.standard_deviation[2], 0.3);
  EXPECT_EQ(config.grid_pinpoints, (std::vector<PixelSize>{{84, 84}, {168, 84}}));
}

TEST(ProcessorConfig, HasTransformersDefaults) {
  const ImageProcessorConfig config = parse_image("{}");
  EXPECT_EQ(config.size, (PixelSize{384, 384}));
  EXPECT_EQ(config.filter, ResampleFilter::kBicubic);
  EXPECT_EQ(config.grid_pinpoints.size(), 36U);
  EXPECT_EQ(config.grid_pinpoints[7], (PixelSize{768, 768}));
  EXPECT_EQ(config.scaling.mean[0], 0.48145466);
}

// As AutoImageProcessor of transformers 5.2 loads them: fast whichever class is named, slow where none is.
TEST(ProcessorConfig, ImagesAreResizedByTheClassThatTransformersLoads) {
  EXPECT_EQ(parse_image("{}").arithmetic, ResizeArithmetic::kPillow);
  for (const char* said :
       {R"({"image_processor_type": "LlavaOnevisionImageProcessor"})", R"({"image_processor_type": "LlavaOnevisionImageProcessorFast"})",
        R"({"feature_extractor_type": "LlavaOnevisionFeatureExtractor"})"})
    EXPECT_EQ(parse_image(said).arithmetic, ResizeArithmetic::kTorch) << said;
}

TEST(ProcessorConfig, ReadsOtherFormsOfSizeAndMean) {
  EXPECT_EQ(parse_image(R"({"size": {"shortest_edge": 56}})").size, (PixelSize{56, 56}));
  EXPECT_EQ(parse_image(R"({"size": 56})").size, (PixelSize{56, 56}));
  EXPECT_EQ(parse_image(R"({"image_mean": 0.5})").scaling.mean, (std::array<double, 3>{0.5, 0.5, 0.5}));
}

TEST(ProcessorConfig, NamesTheKeyOfEveryBadValue) {
  struct Case {
    const char* key;
    const char* value;
    ErrorCode code;
  };
  const std::vector<Case> cases = {
      {"size", R"({"height": 0, "width": 0})", ErrorCode::kDamagedFile},
      {"size", R"({"height": 84})", ErrorCode::kDamagedFile},
      {"size", R"({"height": 84.5, "width": 84})", ErrorCode::kDamagedFile},
      {"size", R"({"height": 1000000000, "width": 84})", ErrorCode::kLimitExceeded},
      {"size", R"({"height": 84, "width": 42})", ErrorCode::kUnsupportedModel},
      {"size", "\"84\"", ErrorCode::kDamagedFile},
      {"image_mean", "[0.5]", ErrorCode::kDamagedFile},
      {"image_mean", "[0.5, 0.5, 0.5, 0.5]", ErrorCode::kLimitExceeded},
      {"image_mean", "[0.5, null, 0.5]", ErrorCode::kDamagedFile},
      {"image_std", "[0.5]", ErrorCode::kDamagedFile},
      {"image_std", "[0.5, 0.0, 0.5]", ErrorCode::kDamagedFile},
      {"image_std", "[]", ErrorCode::kDamagedFile},
      {"rescale_factor", "0", ErrorCode::kDamagedFile},
      {"rescale_factor", "-1", ErrorCode::kDamagedFile},
      {"do_resize", "false", ErrorCode::kUnsupportedModel},
      {"do_resize", "1", ErrorCode::kDamagedFile},
      {"do_center_crop", "true", ErrorCode::kUnsupportedModel},
      {"resample", "0", ErrorCode::kUnsupportedModel},
      {"resample", "99", ErrorCode::kLimitExceeded},
      {"resample", "\"bicubic\"", ErrorCode::kDamagedFile},
      {"image_grid_pinpoints", "[]", ErrorCode::kDamagedFile},
      {"image_grid_pinpoints", "[84, 84]", ErrorCode::kDamagedFile},
      {"image_grid_pinpoints", "[[84]]", ErrorCode::kDamagedFile},
      {"image_grid_pinpoints", "[[84, 84, 84]]", ErrorCode::kDamagedFile},
      {"image_grid_pinpoints", "[[84, 0]]", ErrorCode::kDamagedFile},
      {"image_grid_pinpoints", "[[84, 84.5]]", ErrorCode::kDamagedFile},
      {"image_grid_pinpoints", "[[16384, 16384]]", ErrorCode::kLimitExceeded},
      {"image_grid_pinpoints", "{}", ErrorCode::kDamagedFile},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.key) + " = " + c.value);
    expect_error(c.code, std::string("p.json: ") + c.key, [&] { parse_image(with(c.key, c.value)); });
  }
}

TEST(ProcessorConfig, FramesNeedAHeightAndAWidth) {
  const Json document = Json::parse(R"({"size": {"shortest_edge": 84}})");
  expect_error(ErrorCode::kUnsupportedModel, "v.json: size", [&] { parse_video_processor(JsonObject(document, "v.json")); });
}

TEST(ProcessorConfig, NestedConfigurationsGoFirst) {
  const test::ScratchFolder folder;
  folder.write("preprocessor_config.json", R"({"size": 28})");
  folder.write("video_preprocessor_config.json", R"({"size": {"height": 42, "width": 42}})");
  EXPECT_EQ(read_processor_config(HuggingFaceFolder(folder.path())).image.size.width_px, 28);
  EXPECT_EQ(read_processor_config(HuggingFaceFolder(folder.path())).video.size.width_px, 42);
  folder.write("processor_config.json", R"({"num_image_tokens": 9, "vision_aspect_ratio": "anyres_max_4", "image_processor": {"size": 56},
    "video_processor": {"size": {"height": 70, "width": 70}}})");
  const ProcessorConfig config = read_processor_config(HuggingFaceFolder(folder.path()));
  EXPECT_EQ(config.image.size.width_px, 56);
  EXPECT_EQ(config.video.size.width_px, 70);
  EXPECT_EQ(config.image_tokens, 9);
  EXPECT_EQ(config.aspect_ratio, "anyres_max_4");
  EXPECT_FALSE(config.feature_select_strategy.has_value());
}

TEST(ProcessorConfig, VideosFallBackToTheImagesFile) {
  const test::ScratchFolder folder;
  expect_error(ErrorCode::kFileNotFound, "how images are prepared", [&] { read_processor_config(HuggingFaceFolder(folder.path())); });
  folder.write("preprocessor_config.json", kImage);
  EXPECT_EQ(read_processor_config(HuggingFaceFolder(folder.path())).video.size.width_px, 84);
  EXPECT_EQ(read_processor_config(HuggingFaceFolder(folder.path())).video.filter, ResampleFilter::kBilinear);
  EXPECT_EQ(read_processor_config(HuggingFaceFolder(folder.path())).image.arithmetic, ResizeArithmetic::kPillow);
  EXPECT_EQ(read_processor_config(HuggingFaceFolder(folder.path())).video.arithmetic, ResizeArithmetic::kTorch);
}

}  // namespace
}  // namespace winnow::processor_config_test
