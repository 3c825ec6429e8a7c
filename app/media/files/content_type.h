// The type of a file by its first bytes; names and extensions do not count.
//
// Used before any parser of FFmpeg sees a byte: only the formats listed here go on, each to one named demuxer or decoder. Everything else
// is refused with a reason that says what it is where that is known (a playlist, a TIFF picture, a text file; formats of a few bytes are in
// engine/base/known_format.h). Errors: kUnsupportedFormat; kNotFetched for a pointer in place of the file.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "app/media/files/media_file.h"
#include "engine/media/frame_source.h"

namespace winnow::app {

enum class ContentType : int {
  kPng = 1,
  kJpeg,
  kGif,
  kBmp,
  kWebp,
  kMov,
  kMatroska,
  kAvi,
  kMpegTs,
  kMpegPs,
  kFlv,
  kOgg,
  kAsf,
  kHeic,
  kAvif
};

// Advice on a picture or a video that is refused for its format; follows a reason.
inline constexpr const char* kConvertPicture = "save it as PNG or JPEG, where it opens or by: ffmpeg -i FILE NEW.png";
inline constexpr const char* kConvertVideo = "this converts it: ffmpeg -i FILE -c:v libx264 -pix_fmt yuv420p NEW.mp4";

// The reason for a lone segment of a video that is sent in parts.
inline constexpr const char* kSegmentAlone =
    "this is one segment of a stream (DASH, HLS), without the beginning that says how to read it; this joins them: cat INIT SEGMENT ... > "
    "NEW";

ContentType detectContent(const MediaFile& file);
// The same on bytes: head is the start of the file, subject names it in the error.
ContentType detectContent(std::span<const std::uint8_t> head, const std::string& subject);

// True if more of a head that is not recognised could make a video of it: MPEG-TS is known by several packets, all else by its first 32
// bytes.
bool mayBecomeVideo(std::span<const std::uint8_t> head);

// A stream of packets without an index, made to be cut and joined at any of them.
inline bool isPacketStream(ContentType type) { return type == ContentType::kMpegTs || type == ContentType::kMpegPs; }

// Says of its pictures when they are decoded, and shows them in their order at these times.
inline bool isTimedByOrder(ContentType type) { return type == ContentType::kAvi || type == ContentType::kAsf; }

MediaKind kindOf(ContentType type);
// "png", "mp4", "webm", ...; for display and for error sentences.
std::string nameOf(ContentType type);
// FFmpeg's name of the one decoder that reads a picture of this type, or of the one demuxer of a video; null: libheif reads it.
const char* readerOf(ContentType type);

}  // namespace winnow::app
