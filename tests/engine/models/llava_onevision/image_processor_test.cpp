// Pixels against transformers' processors; how the golden files came about is in tests/golden/processor/manifest.json.
#include "engine/models/families/llava_onevision_pixels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>

#include "engine/base/json_document.h"
#include "engine/weights/safetensors.h"
#include "tests/engine/models/llava_parts/golden_pictures.h"
#include "tests/support/expect_error.h"

namespace winnow::llava_onevision_test {
namespace {

using test::expect_error;

RgbImage picture(std::int64_t height, std::int64_t width, std::int64_t seed) {
  return {static_cast<int>(width), static_cast<int>(height), test::golden_picture(height, width, seed)};
}

ImageProcessor processor(std::int64_t side, std::vector<PixelSize> pinpoints, ResampleFilter filter, bool scaled,
                         ResizeArithmetic arithmetic = ResizeArithmetic::kPillow) {
  ImageProcessorConfig image;
  image.size = {side, side};
  image.filter = filter;
  image.scaling.rescale = scaled;
  image.scaling.normalize = scaled;
  image.grid_pinpoints = std::move(pinpoints);
  const PictureRules video = image;
  image.arithmetic = arithmetic;
  return ImageProcessor(image, video);
}

PixelValues run(const Json& entry, bool scaled) {
  std::vector<PixelSize> pinpoints;
  if (entry.contains("pinpoints")) {
    for (const Json& pair : entry["pinpoints"]) pinpoints.push_back({pair[0], pair[1]});
  }
  const auto filter = static_cast<ResampleFilter>(entry["resample"].get<int>());
  const auto arithmetic = entry.contains("arithmetic") ? ResizeArithmetic::kTorch : ResizeArithmetic::kPillow;
  const ImageProcessor subject = processor(entry["side"], pinpoints, filter, scaled, arithmetic);
  const std::int64_t height = entry["height"];
  const std::int64_t width = entry["width"];
  const std::int64_t seed = entry["seed"];
  if (entry["kind"] == "video") {
    return subject.frames(std::vector<RgbImage>{picture(height, width, seed), picture(height, width, seed + 1)});
  }
  return subject.image(picture(height, width, seed), entry["kind"] == "single" ? ImageTiling::kSingle : ImageTiling::kAnyRes);
}

TEST(ImageProcessor, ResizedBytesEqualTheReferenceExactly) {
  const SafetensorsFile golden(test::kProcessorGolden + "/pixels.safetensors");
  const Json cases = load_json(test::kProcessorGolden + "/cases.json");
  ASSERT_GE(cases["cases"].size(), 26U);
  for (const Json& entry : cases["cases"]) {
    const std::string name = entry["name"];
    SCOPED_TRACE(name + "; " + test::kRebuildHint);
    const StoredTensor& stored = golden.tensor(name);
    std::vector<std::uint8_t> expected(stored.bytes());
    golden.read(stored, 0, std::as_writable_bytes(std::span(expected)));
    const PixelValues values = run(entry, false);
    ASSERT_EQ(values.pixels.sizes().vec(), stored.shape);
    EXPECT_EQ(values.source_height_px, entry["height"]);
    EXPECT_EQ(values.source_width_px, entry["width"]);
    const float* got = values.pixels.const_data_ptr<float>();
    double largest = 0.0;
    for (std::size_t i = 0; i < expected.size(); ++i) largest = std::max(largest, std::abs(static_cast<double>(got[i]) - expected[i]));
    EXPECT_EQ(largest, 0.0);
  }
}

TEST(ImageProcessor, ScaledValuesEqualTheReference) {
  const SafetensorsFile golden(test::kProcessorGolden + "/pixels.safetensors");
  const Json cases = load_json(test::kProcessorGolden + "/cases.json");
  int compared = 0;
  for (const Json& entry : cases["cases"]) {
    const std::string name = entry["name"].get<std::string>() + ".scaled";
    if (!golden.tensors().contains(name)) continue;
    ++compared;
    const StoredTensor& stored = golden.tensor(name);
    std::vector<float> expected(stored.bytes() / sizeof(float));
    golden.read(stored, 0, std::as_writable_bytes(std::span(expected)));
    const PixelValues values = run(entry, true);
    ASSERT_EQ(values.pixels.sizes().vec(), stored.shape);
    const float* got = values.pixels.const_data_ptr<float>();
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(got[i], expected[i], 1e-6) << name << " at " << i;
  }
  EXPECT_EQ(compared, 4);
}

// FNV-1a 64 of the values as bytes.
std::string hash_of(const at::Tensor& pixels) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  const float* values = pixels.const_data_ptr<float>();
  for (std::int64_t i = 0; i < pixels.numel(); ++i) hash = (hash ^ static_cast<std::uint8_t>(values[i])) * 0x100000001B3U;
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

TEST(ImageProcessor, FullSizePicturesHashLikeTheReference) {
  const Json cases = load_json(test::kProcessorGolden + "/cases.json");
  const ImageProcessor subject = processor(384, default_grid_pinpoints(), ResampleFilter::kBicubic, false);
  const ImageProcessor fast = processor(384, default_grid_pinpoints(), ResampleFilter::kBicubic, false, ResizeArithmetic::kTorch);
  for (const Json& entry : cases["hashed"]) {
    SCOPED_TRACE(entry["name"].get<std::string>() + "; " + test::kRebuildHint);
    const RgbImage image = picture(entry["height"], entry["width"], entry["seed"]);
    const PixelValues tiled = subject.image(image, ImageTiling::kAnyRes);
    EXPECT_EQ(tiled.pixels.size(0), entry["tiles"]);
    EXPECT_EQ(hash_of(tiled.pixels), entry["anyres"]);
    EXPECT_EQ(hash_of(subject.image(image, ImageTiling::kSingle).pixels), entry["single"]);
    EXPECT_EQ(hash_of(fast.image(image, ImageTiling::kAnyRes).pixels), entry["anyres_fast"]);
    EXPECT_EQ(hash_of(fast.image(image, ImageTiling::kSingle).pixels), entry["single_fast"]);
    EXPECT_EQ(hash_of(subject.frames(std::vector<RgbImage>{image}).pixels), entry["video"]);
  }
}

TEST(ImageProcessor, RefusesImagesThatAreNotWhatTheySay) {
  const ImageProcessor subject = processor(28, {{28, 28}}, ResampleFilter::kBicubic, true);
  const auto image = [&](int width, int height, std::size_t bytes) {
    subject.image({width, height, std::vector<std::uint8_t>(bytes)}, ImageTiling::kAnyRes);
  };
  expect_error(ErrorCode::kInvalidArgument, "no pixels", [&] { image(0, 5, 0); });
  expect_error(ErrorCode::kInvalidArgument, "no pixels", [&] { image(5, -5, 75); });
  expect_error(ErrorCode::kInvalidArgument, "do not match", [&] { image(5, 5, 74); });
  expect_error(ErrorCode::kLimitExceeded, "64 Mpx", [&] { image(16'385, 100, 0); });
  expect_error(ErrorCode::kLimitExceeded, "64 Mpx", [&] { image(16'000, 16'000, 0); });
  expect_error(ErrorCode::kLimitExceeded, "too narrow", [&] { image(201, 1, 603); });
  expect_error(ErrorCode::kInvalidArgument, "no frames", [&] { subject.frames({}); });
  EXPECT_NO_THROW(image(200, 1, 600));
}

TEST(ImageProcessor, FramesOfDifferentSizesShareOneTensor) {
  const ImageProcessor subject = processor(28, {{28, 28}}, ResampleFilter::kBicubic, true);
  const PixelValues values = subject.frames(std::vector<RgbImage>{picture(20, 30, 1), picture(50, 10, 2)});
  EXPECT_EQ(values.pixels.sizes().vec(), (std::vector<std::int64_t>{2, 3, 28, 28}));
  EXPECT_EQ(values.source_height_px, 20);
}

}  // namespace
}  // namespace winnow::llava_onevision_test
