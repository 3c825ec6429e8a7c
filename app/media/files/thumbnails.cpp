#include "app/media/files/thumbnails.h"

#include <algorithm>
#include <cmath>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "engine/base/error.h"

namespace winnow::app {

PictureSize thumbnailSize(PictureSize size, int maxSidePx) {
  const int longest = std::max(size.width_px, size.height_px);
  if (longest <= maxSidePx) return size;
  const double scale = static_cast<double>(maxSidePx) / longest;
  const auto side = [&](int full) { return std::max(1, static_cast<int>(std::lround(full * scale))); };
  return {side(size.width_px), side(size.height_px)};
}

RgbImage scaledTo(const RgbImage& image, PictureSize size) {
  require(image.width_px > 0 && image.height_px > 0 &&
              image.rgb.size() == static_cast<std::size_t>(image.width_px) * static_cast<std::size_t>(image.height_px) * 3,
          "a thumbnail needs a packed RGB picture");
  if (size.width_px == image.width_px && size.height_px == image.height_px) return image;
  RgbImage small{.width_px = size.width_px, .height_px = size.height_px};
  small.rgb.resize(static_cast<std::size_t>(small.width_px) * static_cast<std::size_t>(small.height_px) * 3);
  // The source is only read; OpenCV has no const view.
  const cv::Mat from(image.height_px, image.width_px, CV_8UC3, const_cast<std::uint8_t*>(image.rgb.data()));
  cv::Mat to(small.height_px, small.width_px, CV_8UC3, small.rgb.data());
  cv::resize(from, to, to.size(), 0, 0, cv::INTER_AREA);
  return small;
}

RgbImage makeThumbnail(const RgbImage& image, int maxSidePx) {
  if (maxSidePx < 1) throw Exception(ErrorCode::kInvalidArgument, "thumbnail", "the longest side of a thumbnail is below 1 pixel");
  return scaledTo(image, thumbnailSize({image.width_px, image.height_px}, maxSidePx));
}

}  // namespace winnow::app
