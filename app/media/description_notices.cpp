#include "app/media/description_notices.h"

#include <string_view>

#include "app/media/picture_geometry.h"

namespace winnow::app {

std::vector<MediaNotice> descriptionNotices(const AVStream& video, AVRational pixelShape) {
  std::vector<MediaNotice> notices;
  const AVCodecParameters& picture = *video.codecpar;
  if (!squarePixelWidth(picture.width, pixelShape)) add_notice(notices, {NoticeCode::kPixelShapeIgnored});
  if (!streamOrientation(video).exact) add_notice(notices, {NoticeCode::kTurnIgnored});
  if (picture.color_trc == AVCOL_TRC_SMPTE2084 || picture.color_trc == AVCOL_TRC_ARIB_STD_B67)
    add_notice(notices, {NoticeCode::kNoToneMapping});
  const AVDictionaryEntry* alpha = av_dict_get(video.metadata, "alpha_mode", nullptr, 0);  // beside VP8 and VP9
  if (alpha != nullptr && std::string_view(alpha->value) == "1") add_notice(notices, {NoticeCode::kTransparencyIgnored});
  return notices;
}

}  // namespace winnow::app
