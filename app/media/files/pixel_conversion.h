// Decoded frame of any pixel format to upright 8-bit RGB of a wanted size.
//
// Used by the still-image decoder and VideoFrameSource. Colour range and matrix come from the frame; what the frame leaves open is filled
// from ColourHint. Transparent pixels are laid over white. Odd sizes, palettes, grey, 16-bit and planar RGB are handled; HDR is not tone
// mapped. Keeps its scaler from frame to frame while format and size stay. Errors: kDamagedFile for a format without a conversion,
// kOutOfMemory. Threads: one at a time.
#pragma once

#include <string>

#include "app/media/files/av_handles.h"
#include "app/media/files/orientation.h"
#include "engine/media/frame_source.h"

namespace winnow::app {

enum class ColourRange : int { kLimited = 1, kFull = 2 };
enum class ColourMatrix : int { kRgb = 1, kBt601, kBt709, kBt2020, kSmpte240m, kFcc };
const char* nameOf(ColourRange range);
const char* nameOf(ColourMatrix matrix);

// How to read what a frame does not say. Grey still images use the full range, grey video the limited one.
enum class ColourHint : int { kStill = 1, kVideo = 2 };

struct ColourReading {
  ColourRange range = ColourRange::kLimited;
  ColourMatrix matrix = ColourMatrix::kBt601;
};
// format is an AVPixelFormat; unknown matrices are BT.709 in videos that are larger than PAL's lines or at least 1280 wide, as players take
// them (mpv), otherwise BT.601.
ColourReading readColour(int format, AVColorRange range, AVColorSpace space, PictureSize size, ColourHint hint);

class FrameConverter {
 public:
  explicit FrameConverter(std::string subject) : m_subject(std::move(subject)) {}

  // widthPx, heightPx: size before the orientation is applied; the frame is scaled to it if it differs.
  RgbImage convert(const AVFrame& frame, int widthPx, int heightPx, Orientation orientation, ColourHint hint);

 private:
  void prepareScaler(const AVFrame& frame, int sourceFormat, int targetFormat, int widthPx, int heightPx, const ColourReading& colour);

  std::string m_subject;
  AvScaler m_scaler;
  struct Key {
    int sourceFormat = -1, sourceWidth = 0, sourceHeight = 0, targetFormat = -1, width = 0, height = 0, range = 0, matrix = 0;
    bool operator==(const Key&) const = default;
  } m_key;
  AvFrame m_target;  // padded rows: swscale writes past the end of a tightly packed one
};

}  // namespace winnow::app
