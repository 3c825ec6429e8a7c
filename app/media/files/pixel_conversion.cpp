#include "app/media/files/pixel_conversion.h"

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <cstring>
#include <utility>

namespace winnow::app {
namespace {

// The "J" formats are the plain ones with full range said in the name; swscale wants it said apart.
struct PlainFormat {
  AVPixelFormat format;
  bool fullByName;
};
PlainFormat plainFormat(int format) {
  switch (format) {
    case AV_PIX_FMT_YUVJ420P: return {AV_PIX_FMT_YUV420P, true};
    case AV_PIX_FMT_YUVJ411P: return {AV_PIX_FMT_YUV411P, true};
    case AV_PIX_FMT_YUVJ422P: return {AV_PIX_FMT_YUV422P, true};
    case AV_PIX_FMT_YUVJ440P: return {AV_PIX_FMT_YUV440P, true};
    case AV_PIX_FMT_YUVJ444P: return {AV_PIX_FMT_YUV444P, true};
    default: return {static_cast<AVPixelFormat>(format), false};
  }
}

bool isRgbLike(const AVPixFmtDescriptor& descriptor) { return (descriptor.flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL)) != 0; }

int swscaleMatrix(ColourMatrix matrix) {
  switch (matrix) {
    case ColourMatrix::kBt709: return SWS_CS_ITU709;
    case ColourMatrix::kBt2020: return SWS_CS_BT2020;
    case ColourMatrix::kSmpte240m: return SWS_CS_SMPTE240M;
    case ColourMatrix::kFcc: return SWS_CS_FCC;
    default: return SWS_CS_ITU601;
  }
}

// True if it is larger than BT.601's television (PAL has 576 lines); films of wide screens have few lines.
bool isHighDefinition(PictureSize size) { return size.width_px >= 1280 || size.height_px > 576; }

// Rows of RGBA over white. 255 - (255 - c) * a / 255, rounded.
void flattenRow(const std::uint8_t* rgba, int pixels, std::uint8_t* rgb) {
  for (int x = 0; x < pixels; ++x, rgba += 4, rgb += 3) {
    const int alpha = rgba[3];
    for (int channel = 0; channel < 3; ++channel)
      rgb[channel] = static_cast<std::uint8_t>(255 - ((255 - rgba[channel]) * alpha + 127) / 255);
  }
}

}  // namespace

const char* nameOf(ColourRange range) { return range == ColourRange::kFull ? "full" : "limited"; }

const char* nameOf(ColourMatrix matrix) {
  switch (matrix) {
    case ColourMatrix::kRgb: return "rgb";
    case ColourMatrix::kBt601: return "bt601";
    case ColourMatrix::kBt709: return "bt709";
    case ColourMatrix::kBt2020: return "bt2020";
    case ColourMatrix::kSmpte240m: return "smpte240m";
    case ColourMatrix::kFcc: return "fcc";
  }
  throw Exception(ErrorCode::kInternal, "", "unknown colour matrix");
}

ColourReading readColour(int format, AVColorRange range, AVColorSpace space, PictureSize size, ColourHint hint) {
  const PlainFormat plain = plainFormat(format);
  const AVPixFmtDescriptor* descriptor = av_pix_fmt_desc_get(plain.format);
  if (descriptor != nullptr && isRgbLike(*descriptor)) return {ColourRange::kFull, ColourMatrix::kRgb};
  ColourReading reading;
  const bool grey = descriptor != nullptr && descriptor->nb_components <= 2;
  if (plain.fullByName || range == AVCOL_RANGE_JPEG) {
    reading.range = ColourRange::kFull;
  } else if (range == AVCOL_RANGE_MPEG) {
    reading.range = ColourRange::kLimited;
  } else {
    reading.range = grey && hint == ColourHint::kStill ? ColourRange::kFull : ColourRange::kLimited;
  }
  switch (space) {
    case AVCOL_SPC_BT709: reading.matrix = ColourMatrix::kBt709; break;
    case AVCOL_SPC_BT470BG:
    case AVCOL_SPC_SMPTE170M: reading.matrix = ColourMatrix::kBt601; break;
    case AVCOL_SPC_BT2020_NCL:
    case AVCOL_SPC_BT2020_CL: reading.matrix = ColourMatrix::kBt2020; break;
    case AVCOL_SPC_SMPTE240M: reading.matrix = ColourMatrix::kSmpte240m; break;
    case AVCOL_SPC_FCC: reading.matrix = ColourMatrix::kFcc; break;
    default: reading.matrix = hint == ColourHint::kVideo && isHighDefinition(size) ? ColourMatrix::kBt709 : ColourMatrix::kBt601; break;
  }
  return reading;
}

void FrameConverter::prepareScaler(const AVFrame& frame, int sourceFormat, int targetFormat, int widthPx, int heightPx,
                                   const ColourReading& colour) {
  const Key key{sourceFormat,
                frame.width,
                frame.height,
                targetFormat,
                widthPx,
                heightPx,
                static_cast<int>(colour.range),
                static_cast<int>(colour.matrix)};
  if (m_scaler && key == m_key) return;
  m_scaler.reset();
  // Exact rounding and chroma at full width: the fast paths are off by several levels and smear odd widths.
  const int flags = SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP;
  m_scaler.reset(sws_getContext(frame.width, frame.height, static_cast<AVPixelFormat>(sourceFormat), widthPx, heightPx,
                                static_cast<AVPixelFormat>(targetFormat), flags, nullptr, nullptr, nullptr));
  if (!m_scaler) throw Exception(ErrorCode::kDamagedFile, m_subject, "its pixel format cannot be converted");
  const int* coefficients = sws_getCoefficients(swscaleMatrix(colour.matrix));
  // Returns -1 for pairs without a matrix (RGB to RGB), where there is nothing to set.
  sws_setColorspaceDetails(m_scaler.get(), coefficients, colour.range == ColourRange::kFull ? 1 : 0, sws_getCoefficients(SWS_CS_DEFAULT), 1,
                           0, 1 << 16, 1 << 16);
  m_key = key;

  m_target = makeFrame();
  m_target->format = targetFormat;
  m_target->width = widthPx;
  m_target->height = heightPx;
  if (av_frame_get_buffer(m_target.get(), 64) < 0) {
    m_scaler.reset();
    throw Exception(ErrorCode::kOutOfMemory, m_subject, "there is no memory for a picture of this size");
  }
}

RgbImage FrameConverter::convert(const AVFrame& frame, int widthPx, int heightPx, Orientation orientation, ColourHint hint) {
  require(frame.width > 0 && frame.height > 0 && widthPx > 0 && heightPx > 0, "a picture to convert needs a size");
  const PlainFormat plain = plainFormat(frame.format);
  const AVPixFmtDescriptor* descriptor = av_pix_fmt_desc_get(plain.format);
  if (descriptor == nullptr || (descriptor->flags & AV_PIX_FMT_FLAG_HWACCEL) != 0) {
    throw Exception(ErrorCode::kDamagedFile, m_subject, "its pixel format cannot be converted");
  }
  const bool transparent = (descriptor->flags & AV_PIX_FMT_FLAG_ALPHA) != 0;
  const ColourReading colour = readColour(frame.format, frame.color_range, frame.colorspace, {frame.width, frame.height}, hint);
  prepareScaler(frame, plain.format, transparent ? AV_PIX_FMT_RGBA : AV_PIX_FMT_RGB24, widthPx, heightPx, colour);
  if (sws_scale(m_scaler.get(), frame.data, frame.linesize, 0, frame.height, m_target->data, m_target->linesize) != heightPx) {
    throw Exception(ErrorCode::kDamagedFile, m_subject, "its pixels cannot be converted");
  }

  RgbImage image{.width_px = widthPx, .height_px = heightPx};
  const std::size_t rowBytes = static_cast<std::size_t>(widthPx) * 3;
  image.rgb.resize(rowBytes * static_cast<std::size_t>(heightPx));
  for (int y = 0; y < heightPx; ++y) {
    const std::uint8_t* from = m_target->data[0] + static_cast<std::ptrdiff_t>(y) * m_target->linesize[0];
    std::uint8_t* to = image.rgb.data() + static_cast<std::size_t>(y) * rowBytes;
    if (transparent) {
      flattenRow(from, widthPx, to);
    } else {
      std::memcpy(to, from, rowBytes);
    }
  }
  return makeUpright(std::move(image), orientation);
}

}  // namespace winnow::app
