// Pixels against transformers' processors, byte for byte; tests/golden/make/make_smolvlm_golden.py.
#include "engine/models/families/smolvlm_pixels.h"

#include <gtest/gtest.h>

#include "engine/base/json_document.h"
#include "tests/engine/models/llava_parts/golden_pictures.h"
#include "tests/support/pixel_hash.h"

namespace winnow::smolvlm_test {
namespace {

SmolVlmPixels unscaled(const std::string& what, int resample) {
  Json document = {{"size", {{"longest_edge", 768}}},
                   {"max_image_size", {{"longest_edge", 256}}},
                   {"resample", resample},
                   {"do_rescale", false},
                   {"do_normalize", false}};
  if (what == "fast") document["image_processor_type"] = "SmolVLMImageProcessorFast";
  const JsonObject object(document, "preprocessor_config.json");
  return what == "video" ? parse_smolvlm_video_processor(object) : parse_smolvlm_image_processor(object);
}

TEST(SmolVlmImageProcessor, BytesOfLargePicturesEqualTheReference) {
  const Json golden = load_json(source_folder() + "/tests/golden/smolvlm/sizes.json");
  ASSERT_GE(golden["hashes"].size(), 20U);
  for (const Json& row : golden["hashes"]) {
    SCOPED_TRACE(row.dump());
    const std::string what = row[0];
    const std::int64_t height = row[1], width = row[2];
    const RgbImage picture{static_cast<int>(width), static_cast<int>(height), test::golden_picture(height, width, row[3])};
    SmolVlmProcessorConfig config;
    config.image = config.video = unscaled(what, row[4]);
    const SmolVlmImageProcessor processor(config);
    const PixelValues pixels = what == "video" ? processor.frames(std::span(&picture, 1)) : processor.image(picture);
    EXPECT_EQ(pixels.source_height_px, height);
    EXPECT_EQ(test::pixel_hash(pixels.pixels), row[5].get<std::string>());
  }
}

}  // namespace
}  // namespace winnow::smolvlm_test
