#include "engine/vision/pixel_size.h"

#include <algorithm>

#include "engine/base/error.h"

namespace winnow {
namespace {

constexpr std::int64_t kMaxSidePx = 16'384;
constexpr std::int64_t kMaxPixels = std::int64_t{64} << 20;
constexpr std::int64_t kMaxRatio = 200;

}  // namespace

PixelSize checked_size(const RgbImage& image) {
  const PixelSize size{image.height_px, image.width_px};
  if (size.height_px < 1 || size.width_px < 1) throw Exception(ErrorCode::kInvalidArgument, "image", "it has no pixels");
  if (size.height_px > kMaxSidePx || size.width_px > kMaxSidePx || size.height_px * size.width_px > kMaxPixels) {
    throw Exception(ErrorCode::kLimitExceeded, "image", "it has more than 64 Mpx or a side over 16,384 px");
  }
  if (std::max(size.height_px, size.width_px) > kMaxRatio * std::min(size.height_px, size.width_px)) {
    throw Exception(ErrorCode::kLimitExceeded, "image", "it is too narrow: one side is more than 200 times the other");
  }
  if (image.rgb.size() != static_cast<std::size_t>(size.height_px * size.width_px * 3)) {
    throw Exception(ErrorCode::kInvalidArgument, "image", "its bytes do not match its size");
  }
  return size;
}

}  // namespace winnow
