// Still pictures: what the header says, and the pixels.
//
// Used by ImageFrameSource and probe(). readStillHeader walks the file's own structure (bounded, no decoder): size, orientation, whether
// the end is there, whether there are more frames. decodeStill gives only the picture's own chunks to one named decoder of FFmpeg, so
// that comments, colour profiles and other attachments are never unpacked. A picture without its end mark counts if all of its pixels are
// there. Pictures over the limits are refused by the header alone; one of very many pixels, or with a very long side, is scaled down while
// it is read. Of animations the first frame counts. HEIC and AVIF are libheif's (heif_picture.h). Errors: kDamagedFile, kLimitExceeded,
// kUnsupportedFormat. Pure functions on bytes; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/media/files/content_type.h"
#include "app/media/files/limits.h"
#include "app/media/files/orientation.h"
#include "engine/media/frame_source.h"

namespace winnow::app {

struct StillHeader {
  ContentType type = ContentType::kPng;
  int widthPx = 0;  // as stored, before the orientation is applied
  int heightPx = 0;
  Orientation orientation = Orientation::kUpright;
  bool animated = false;
  bool endMissing = false;                // the mark of the end, and maybe more: the pixels tell
  std::vector<std::uint8_t> decodable{};  // what the decoder gets; the whole file where nothing had to be left out
  int canvasWidthPx = 0, canvasHeightPx = 0, offsetXPx = 0, offsetYPx = 0;  // of a first frame that is smaller than its animation
};

StillHeader readStillHeader(ContentType type, std::vector<std::uint8_t> file, const std::string& subject, const MediaLimits& limits);

// The size that decodeStill() gives: upright, within the limits.
PictureSize deliveredSize(const StillHeader& header, const MediaLimits& limits);

struct DecodedStill {
  RgbImage image{};  // upright
  std::string colourRange;
  std::string colourMatrix;
};
DecodedStill decodeStill(const StillHeader& header, const std::string& subject, const MediaLimits& limits);

}  // namespace winnow::app
