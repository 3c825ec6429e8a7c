#include "engine/vision/resize.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace winnow {
namespace {

using test::expect_error;

std::vector<std::uint8_t> grey(const std::vector<std::uint8_t>& values) {
  std::vector<std::uint8_t> rgb;
  for (const std::uint8_t value : values) rgb.insert(rgb.end(), 3, value);
  return rgb;
}

std::vector<std::uint8_t> resize(const std::vector<std::uint8_t>& rgb, PixelSize from, PixelSize to, ResampleFilter filter,
                                 ResizeArithmetic arithmetic = ResizeArithmetic::kPillow) {
  return resize_rgb8({rgb.data(), from, from, {0, 0}, {0, 0, 0}}, to, filter, arithmetic);
}

TEST(Resize, ReturnsTheSamePictureAtTheSameSize) {
  const std::vector<std::uint8_t> rgb = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  EXPECT_EQ(resize(rgb, {2, 2}, {2, 2}, ResampleFilter::kBicubic), rgb);
}

TEST(Resize, BilinearHalvingWeighsFourPixels) {
  // Scale 2, support 2: the first output is centred at 1.0; its pixels lie 0.25, 0.25 and 0.75 of the filter's half width away, which
  // weighs them 3, 3 and 1 of 7. The second output mirrors it.
  const std::vector<std::uint8_t> got = resize(grey({0, 70, 210, 140}), {1, 4}, {1, 2}, ResampleFilter::kBilinear);
  EXPECT_EQ(got, grey({60, 160}));  // (3*0 + 3*70 + 210) / 7 and (70 + 3*210 + 3*140) / 7
}

TEST(Resize, VerticalAndHorizontalAreAlike) {
  const std::vector<std::uint8_t> line = grey({3, 250, 9, 77, 120, 0, 255});
  for (const ResampleFilter filter : {ResampleFilter::kLanczos, ResampleFilter::kBilinear, ResampleFilter::kBicubic}) {
    EXPECT_EQ(resize(line, {1, 7}, {1, 3}, filter), resize(line, {7, 1}, {3, 1}, filter));
  }
}

TEST(Resize, BicubicOvershootIsClippedNotWrapped) {
  const std::vector<std::uint8_t> edge = grey({0, 0, 255, 255});
  for (const ResizeArithmetic arithmetic : {ResizeArithmetic::kPillow, ResizeArithmetic::kTorch}) {
    const std::vector<std::uint8_t> wide = resize(edge, {1, 4}, {1, 16}, ResampleFilter::kBicubic, arithmetic);
    EXPECT_EQ(wide[5 * 3], 0);
    EXPECT_EQ(wide[10 * 3], 255);
  }
}

TEST(Resize, LanczosReachesThreePixels) {
  // One bright pixel of 13, twice as wide: outputs 2 x 6 +- 6 and beyond see nothing of it, and its sides are darker than nothing.
  std::vector<std::uint8_t> values(13, 100);
  values[6] = 200;
  const std::vector<std::uint8_t> wide = resize(grey(values), {1, 13}, {1, 26}, ResampleFilter::kLanczos);
  for (const std::size_t far : {0U, 6U, 19U, 25U}) EXPECT_EQ(wide[far * 3], 100) << far;
  for (const std::size_t side : {10U, 15U}) EXPECT_LT(wide[side * 3], 100) << side;
  EXPECT_GT(wide[12 * 3], 180);
}

TEST(Resize, ConstantPicturesStayConstant) {
  for (const int value : {0, 1, 122, 254, 255}) {
    const std::vector<std::uint8_t> rgb(37 * 53 * 3, static_cast<std::uint8_t>(value));
    const std::vector<std::uint8_t> expected(11 * 90 * 3, static_cast<std::uint8_t>(value));
    for (const ResampleFilter filter : {ResampleFilter::kLanczos, ResampleFilter::kBicubic})
      EXPECT_EQ(resize(rgb, {37, 53}, {11, 90}, filter), expected) << value;
  }
}

TEST(Resize, AVirtualCanvasEqualsAPaintedOne) {
  const PixelSize picture{5, 40};
  std::vector<std::uint8_t> rgb;
  for (int i = 0; i < 5 * 40 * 3; ++i) rgb.push_back(static_cast<std::uint8_t>(i * 37));
  std::vector<std::uint8_t> painted;
  for (int i = 0; i < 40 * 40; ++i) painted.insert(painted.end(), {10, 20, 30});
  std::copy(rgb.begin(), rgb.end(), painted.begin() + 17 * 40 * 3);
  const RgbCanvas canvas{rgb.data(), picture, {40, 40}, {17, 0}, {10, 20, 30}};
  EXPECT_EQ(resize_rgb8(canvas, {12, 12}, ResampleFilter::kBicubic, ResizeArithmetic::kPillow),
            resize(painted, {40, 40}, {12, 12}, ResampleFilter::kBicubic));
}

TEST(Resize, RefusesAPictureBesideItsCanvas) {
  const std::vector<std::uint8_t> rgb(12, 0);
  const RgbCanvas canvas{rgb.data(), {2, 2}, {2, 2}, {1, 0}, {0, 0, 0}};
  expect_error(ErrorCode::kInternal, "lies on its canvas", [&] {
    resize_rgb8(canvas, {1, 1}, ResampleFilter::kBicubic, ResizeArithmetic::kPillow);
  });
}

}  // namespace
}  // namespace winnow
