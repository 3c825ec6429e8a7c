// HEIC and AVIF pictures, by libheif: the container, its tiles, its turns and mirrors, and the decoders of HEVC and AV1.
//
// Used by still_image.h. The main picture counts; libheif puts it upright (Exif's orientation does not count in these files). Colours are
// 8-bit RGB, transparent pixels lie on white. Errors: Exception; kDamagedFile, kUnsupportedFormat with a way out, kOutOfMemory. Pure
// functions on bytes; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "app/media/files/still_image.h"
#include "engine/media/frame_source.h"

namespace winnow::app {

// Lets libheif look up what it needs once.
void prepareHeif();

// Upright. type: kHeic or kAvif.
PictureSize heifSize(ContentType type, std::span<const std::uint8_t> file, const std::string& subject);
// True for many pictures that follow one another in time.
bool isHeifSequence(std::span<const std::uint8_t> file);

RgbImage decodeHeif(const StillHeader& header, const std::string& subject);

}  // namespace winnow::app
