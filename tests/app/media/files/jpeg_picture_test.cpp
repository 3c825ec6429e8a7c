// A picture that is sent as JPEG is the same picture when it is opened again.
#include "app/media/files/jpeg_picture.h"

#include <gtest/gtest.h>

#include <cmath>

#include "app/media/files/media_opener.h"
#include "tests/support/scratch_folder.h"

namespace winnow::app {
namespace {

RgbImage gradient(int widthPx, int heightPx) {
  RgbImage image{widthPx, heightPx, {}};
  for (int y = 0; y < heightPx; ++y) {
    for (int x = 0; x < widthPx; ++x) {
      image.rgb.push_back(static_cast<std::uint8_t>(255 * x / widthPx));
      image.rgb.push_back(static_cast<std::uint8_t>(255 * y / heightPx));
      image.rgb.push_back(static_cast<std::uint8_t>(255 - 255 * x / widthPx));
    }
  }
  return image;
}

RgbImage openedAgain(const std::vector<std::uint8_t>& jpeg) {
  const test::ScratchFolder scratch;
  const std::string path = scratch.write("picture.jpg", std::string(jpeg.begin(), jpeg.end()));
  FfmpegMediaOpener opener;
  return opener.open({path, MediaKind::kImage, {}}, {})->read(0, 1, {}).at(0).image;
}

TEST(JpegPicture, IsTheSamePictureWhenOpened) {
  for (const auto& [widthPx, heightPx] : {std::pair(64, 48), std::pair(37, 23), std::pair(1, 1)}) {
    const RgbImage image = gradient(widthPx, heightPx);
    const RgbImage back = openedAgain(jpegOf(image, 100));
    ASSERT_EQ(back.width_px, widthPx);
    ASSERT_EQ(back.height_px, heightPx);
    double difference = 0.0;
    for (std::size_t at = 0; at < image.rgb.size(); ++at) difference += std::abs(int(image.rgb[at]) - int(back.rgb[at]));
    EXPECT_LT(difference / static_cast<double>(image.rgb.size()), 4.0) << widthPx << " x " << heightPx;
  }
}

TEST(JpegPicture, IsScaledDownToTheLongestSide) {
  const RgbImage back = openedAgain(jpegOf(gradient(200, 100), 50));
  EXPECT_EQ(back.width_px, 50);
  EXPECT_EQ(back.height_px, 25);
}

}  // namespace
}  // namespace winnow::app
