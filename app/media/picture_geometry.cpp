#include "app/media/picture_geometry.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace winnow::app {
namespace {

constexpr double kMaxSampleAspect = 8.0;
constexpr int kMaxSidePx = 16'384;

}  // namespace

std::optional<int> squarePixelWidth(int widthPx, AVRational aspect) {
  if (aspect.num <= 0 || aspect.den <= 0 || aspect.num == aspect.den) return widthPx;
  const double ratio = av_q2d(aspect);
  const double width = std::round(widthPx * ratio);
  if (ratio <= kMaxSampleAspect && ratio >= 1.0 / kMaxSampleAspect && width >= 1.0 && width <= kMaxSidePx) return static_cast<int>(width);
  return std::nullopt;
}

MatrixOrientation streamOrientation(const AVStream& stream) {
  std::size_t bytes = 0;
  const std::uint8_t* data = av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, &bytes);
  if (data == nullptr || bytes < 9 * sizeof(std::int32_t)) return {};
  std::int32_t matrix[9];
  std::copy_n(data, sizeof matrix, reinterpret_cast<std::uint8_t*>(matrix));
  return orientationFromMatrix(matrix);
}

}  // namespace winnow::app
