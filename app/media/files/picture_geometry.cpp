#include "app/media/files/picture_geometry.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" {
#include <libavutil/dovi_meta.h>
}

namespace winnow::app {
namespace {

constexpr double kMaxSampleAspect = 8.0;
constexpr int kMaxSidePx = 16'384;
constexpr int kSameShape = 64;  // a side that is off by less than its 64th part: sizes are padded to whole blocks

// The profile of Dolby Vision, where its pictures have colours of its own and no others beside them; 0: they have not.
int foreignColours(const AVStream& video) {
  std::size_t bytes = 0;
  const std::uint8_t* found = av_stream_get_side_data(&video, AV_PKT_DATA_DOVI_CONF, &bytes);
  if (found == nullptr || bytes < sizeof(AVDOVIDecoderConfigurationRecord)) return 0;
  const auto& says = *reinterpret_cast<const AVDOVIDecoderConfigurationRecord*>(found);
  const bool own = says.dv_profile == 5 || says.dv_profile == 10 || says.dv_profile == 20;
  return own && says.dv_bl_signal_compatibility_id == 0 ? says.dv_profile : 0;
}

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

PictureSize fitInside(PictureSize shape, PictureSize box) {
  const double scale = std::min(static_cast<double>(box.width_px) / shape.width_px, static_cast<double>(box.height_px) / shape.height_px);
  const auto scaled = [&](int side, int most) {
    const int size = std::clamp(static_cast<int>(std::lround(side * scale)), 1, most);
    return most - size <= std::max(1, most / kSameShape) ? most : size;
  };
  return {scaled(shape.width_px, box.width_px), scaled(shape.height_px, box.height_px)};
}

RgbImage centredOnBlack(const RgbImage& picture, PictureSize size) {
  RgbImage whole{.width_px = size.width_px, .height_px = size.height_px};
  whole.rgb.assign(static_cast<std::size_t>(size.width_px) * static_cast<std::size_t>(size.height_px) * 3, 0);
  const int left = (size.width_px - picture.width_px) / 2;
  const int top = (size.height_px - picture.height_px) / 2;
  const std::size_t rowBytes = static_cast<std::size_t>(picture.width_px) * 3;
  for (int y = 0; y < picture.height_px; ++y) {
    const std::size_t to =
        (static_cast<std::size_t>(top + y) * static_cast<std::size_t>(size.width_px) + static_cast<std::size_t>(left)) * 3;
    std::copy_n(picture.rgb.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(y) * rowBytes), rowBytes,
                whole.rgb.begin() + static_cast<std::ptrdiff_t>(to));
  }
  return whole;
}

std::vector<MediaNotice> descriptionNotices(const AVStream& video, AVRational pixelShape) {
  std::vector<MediaNotice> notices;
  const AVCodecParameters& picture = *video.codecpar;
  if (!squarePixelWidth(picture.width, pixelShape)) add_notice(notices, {NoticeCode::kPixelShapeIgnored});
  if (!streamOrientation(video).exact) add_notice(notices, {NoticeCode::kTurnIgnored});
  if (picture.color_trc == AVCOL_TRC_SMPTE2084 || picture.color_trc == AVCOL_TRC_ARIB_STD_B67)
    add_notice(notices, {NoticeCode::kNoToneMapping});
  if (const int profile = foreignColours(video); profile > 0) add_notice(notices, {NoticeCode::kDolbyVision, profile});
  const AVDictionaryEntry* alpha = av_dict_get(video.metadata, "alpha_mode", nullptr, 0);  // beside VP8 and VP9
  if (alpha != nullptr && std::string_view(alpha->value) == "1") add_notice(notices, {NoticeCode::kTransparencyIgnored});
  return notices;
}

}  // namespace winnow::app
