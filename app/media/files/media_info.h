// Facts about a media file that are known without decoding it.
//
// Filled by probe() and by opening a source; shown by `winnow-cli probe`, the attachments tray and the pre-send planner. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/media/frame_source.h"

namespace winnow::app {

struct MediaInfo {
  MediaKind kind = MediaKind::kImage;
  std::string container;  // "mp4", "webm", "matroska", "avi", "mpegts", "png", "jpeg", "webp", "bmp", "gif", "text"
  std::string codec;      // "h264", "vp9", "png", "UTF-8", ...
  int widthPx = 0;        // upright and with square pixels: the size of the frames delivered
  int heightPx = 0;
  double durationS = 0.0;    // from the beginning of the file to the end of its last picture; 0 for an image
  double playsS = 0.0;       // from there to the end of all that is played: sound may go on behind the last picture; 0 for an image
  double averageFps = 0.0;   // 0 when unknown and for an image
  int rotationDegrees = 0;   // clockwise turn that is applied
  std::string colourRange;   // "limited", "full"; empty when the header does not say
  std::string colourMatrix;  // "rgb", "bt601", "bt709", "bt2020", ...; empty when the header does not say
  std::int64_t fileBytes = 0;
  std::int64_t frameCount = -1;      // -1: not known without reading the whole file
  std::int64_t words = 0;            // of a document
  std::int64_t evenFrames = -1;      // frameCount, if all of them last the same time; -1: they do not, or nothing tells
  bool holdsText = false;            // of a video: subtitles that are text (subtitles.h)
  std::vector<MediaNotice> notices;  // known without decoding
};

}  // namespace winnow::app
