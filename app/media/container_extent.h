// How many bytes a video file's outer structure says it has, read without FFmpeg: tells a cut-off file from a whole one, and one behind
// which another was put.
//
// Used by the probe. MP4: top-level boxes; Matroska: the segment's size; AVI: the RIFF sizes; transport streams have no such claim.
// Reads a few bytes per box, at most kMaxBoxes boxes.
#pragma once

#include <cstdint>

#include "app/media/content_type.h"
#include "app/media/media_file.h"

namespace winnow::app {

struct ContainerExtent {
  std::int64_t missingBytes = 0;  // claimed, but after the end of the file
  bool hasIndex = true;           // MP4: a moov box was found
  bool fragmented = false;        // MP4: moof boxes, so the index does not cover the file
  std::int64_t nextBytes = 0;     // of another video that stands behind the end of this one, at most
};

ContainerExtent measureExtent(const MediaFile& file, ContentType type);

}  // namespace winnow::app
