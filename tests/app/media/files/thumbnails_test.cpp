#include "app/media/files/thumbnails.h"

#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "tests/app/media/files/sample_files.h"

namespace winnow::app {
namespace {

RgbImage plain(int width, int height, std::uint8_t value) {
  return {width, height, std::vector<std::uint8_t>(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3, value)};
}

TEST(Thumbnails, KeepTheShapeWithinTheLongestSide) {
  const RgbImage wide = makeThumbnail(plain(640, 360, 9), 64);
  EXPECT_EQ(wide.width_px, 64);
  EXPECT_EQ(wide.height_px, 36);
  EXPECT_EQ(wide.rgb, plain(64, 36, 9).rgb);
  EXPECT_EQ(makeThumbnail(plain(2000, 10, 9), 64).height_px, 1) << "a side never vanishes";
}

TEST(Thumbnails, NeverEnlarge) {
  const RgbImage small = makeThumbnail(plain(10, 20, 7), 64);
  EXPECT_EQ(small.width_px, 10);
  EXPECT_EQ(small.height_px, 20);
}

TEST(Thumbnails, AverageWhatTheyCover) {
  RgbImage board = plain(4, 4, 0);
  for (std::size_t i = 0; i < 16; ++i) {
    if ((i / 4 + i % 4) % 2 == 0) board.rgb[i * 3] = board.rgb[i * 3 + 1] = board.rgb[i * 3 + 2] = 200;
  }
  EXPECT_EQ(makeThumbnail(board, 2).rgb, plain(2, 2, 100).rgb);
}

TEST(Thumbnails, RefuseANonsensicalSize) { EXPECT_THROW(makeThumbnail(plain(4, 4, 0), 0), Exception); }

TEST(Thumbnails, OfAVideoCarryTheTimesOfTheirFrames) {
  const std::string file = samples::path("a.mp4");
  samples::ffmpeg(samples::numbered(40, 10) + " -c:v libx264 -preset ultrafast " + file);
  const auto strip = FfmpegMediaOpener().readThumbnails(samples::video(file, 4), 32, {});
  ASSERT_EQ(strip.size(), 4u);
  EXPECT_EQ(strip[1].image.width_px, 32);
  EXPECT_EQ(strip[1].image.height_px, 24);
  EXPECT_EQ(samples::numberIn(strip[1].image), 15);
  EXPECT_NEAR(strip[1].actual_s, 1.5, 1e-6);
}

}  // namespace
}  // namespace winnow::app
