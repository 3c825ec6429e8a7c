#include "app/media/files/description_notices.h"

extern "C" {
#include <libavutil/dovi_meta.h>
}

#include <string_view>

#include "app/media/files/picture_geometry.h"

namespace winnow::app {
namespace {

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
