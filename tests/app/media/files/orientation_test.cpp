#include "app/media/files/orientation.h"

#include <gtest/gtest.h>

#include <array>

namespace winnow::app {
namespace {

// 3 x 2 picture:  1 2 3
//                 4 5 6
RgbImage digits() {
  RgbImage image{3, 2, {}};
  for (std::uint8_t i = 1; i <= 6; ++i) image.rgb.insert(image.rgb.end(), {i, i, i});
  return image;
}

std::string shown(Orientation orientation) {
  const RgbImage image = makeUpright(digits(), orientation);
  std::string text;
  for (int y = 0; y < image.height_px; ++y) {
    for (int x = 0; x < image.width_px; ++x)
      text += static_cast<char>('0' + image.rgb[static_cast<std::size_t>(y * image.width_px + x) * 3]);
    text += ' ';
  }
  return text;
}

TEST(Orientation, TurnsAsExifDescribes) {
  EXPECT_EQ(shown(Orientation::kUpright), "123 456 ");
  EXPECT_EQ(shown(Orientation::kMirror), "321 654 ");
  EXPECT_EQ(shown(Orientation::kRotate180), "654 321 ");
  EXPECT_EQ(shown(Orientation::kFlip), "456 123 ");
  EXPECT_EQ(shown(Orientation::kTranspose), "14 25 36 ");
  EXPECT_EQ(shown(Orientation::kRotate90), "41 52 63 ");
  EXPECT_EQ(shown(Orientation::kTransverse), "63 52 41 ");
  EXPECT_EQ(shown(Orientation::kRotate270), "36 25 14 ");
}

Orientation ofMatrix(std::int32_t a, std::int32_t b, std::int32_t c, std::int32_t d) {
  constexpr std::int32_t kOne = 1 << 16;
  const std::array<std::int32_t, 9> matrix{a * kOne, b * kOne, 0, c * kOne, d * kOne, 0, 0, 0, 1 << 30};
  const MatrixOrientation found = orientationFromMatrix(matrix);
  EXPECT_TRUE(found.exact);
  return found.orientation;
}

TEST(Orientation, ReadsDisplayMatrices) {
  EXPECT_EQ(ofMatrix(1, 0, 0, 1), Orientation::kUpright);
  EXPECT_EQ(ofMatrix(-1, 0, 0, 1), Orientation::kMirror);
  EXPECT_EQ(ofMatrix(-1, 0, 0, -1), Orientation::kRotate180);
  EXPECT_EQ(ofMatrix(1, 0, 0, -1), Orientation::kFlip);
  EXPECT_EQ(ofMatrix(0, 1, 1, 0), Orientation::kTranspose);
  EXPECT_EQ(ofMatrix(0, 1, -1, 0), Orientation::kRotate90);
  EXPECT_EQ(ofMatrix(0, -1, -1, 0), Orientation::kTransverse);
  EXPECT_EQ(ofMatrix(0, -1, 1, 0), Orientation::kRotate270);
}

TEST(Orientation, IgnoresOtherAnglesAndEmptyMatrices) {
  const std::array<std::int32_t, 9> tilted{46341, 46341, 0, -46341, 46341, 0, 0, 0, 1 << 30};
  EXPECT_FALSE(orientationFromMatrix(tilted).exact);
  EXPECT_EQ(orientationFromMatrix(tilted).orientation, Orientation::kUpright);
  const std::array<std::int32_t, 9> empty{};
  EXPECT_FALSE(orientationFromMatrix(empty).exact);
}

std::vector<std::uint8_t> littleEndianTiff(std::uint8_t value) {
  return {'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, value, 0, 0, 0};
}

TEST(Orientation, ReadsBothByteOrders) {
  EXPECT_EQ(orientationFromTiff(littleEndianTiff(6)), Orientation::kRotate90);
  const std::vector<std::uint8_t> big{'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 8, 0, 0};
  EXPECT_EQ(orientationFromTiff(big), Orientation::kRotate270);
}

TEST(Orientation, ReadsNumbersOf32Bits) {
  std::vector<std::uint8_t> tiff = littleEndianTiff(6);
  tiff[12] = 4;
  EXPECT_EQ(orientationFromTiff(tiff), Orientation::kRotate90);
  const std::vector<std::uint8_t> big{'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 4, 0, 0, 0, 1, 0, 0, 0, 8};
  EXPECT_EQ(orientationFromTiff(big), Orientation::kRotate270);
  tiff[20] = 1;  // 65542
  EXPECT_EQ(orientationFromTiff(tiff), Orientation::kUpright);
  tiff[20] = 0, tiff[12] = 2;  // letters
  EXPECT_EQ(orientationFromTiff(tiff), Orientation::kUpright);
}

TEST(Orientation, BrokenExifMeansUpright) {
  EXPECT_EQ(orientationFromTiff(littleEndianTiff(0)), Orientation::kUpright);
  EXPECT_EQ(orientationFromTiff(littleEndianTiff(9)), Orientation::kUpright);
  auto tiff = littleEndianTiff(6);
  for (std::size_t length = 0; length < tiff.size(); ++length) {
    EXPECT_EQ(orientationFromTiff(std::span(tiff).first(length)), Orientation::kUpright) << length;
  }
  tiff[7] = 0xFF;  // directory beyond the block
  EXPECT_EQ(orientationFromTiff(tiff), Orientation::kUpright);
  auto many = littleEndianTiff(6);
  many[8] = many[9] = 0xFF;  // 65,535 entries claimed; the first is there
  many[10] = 0x13;           // and is another tag
  EXPECT_EQ(orientationFromTiff(many), Orientation::kUpright);
}

}  // namespace
}  // namespace winnow::app
