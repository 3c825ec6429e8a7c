// How many bytes a video file's outer structure says it has, read without FFmpeg: tells a cut-off file from a whole one, and one behind
// which another was put.
//
// Used by the probe, and by VideoContainer, which reads the first video alone. MP4: top-level boxes; Matroska: the segment's size, or the
// next file's beginning where that is not known; AVI: the RIFF sizes; FLV: tags; Ogg: the streams of pages; Windows Media: objects. Streams
// of packets have no such claim. Reads a few bytes per box or tag, at most kMaxBoxes, or up to kSearchedBytes for a beginning.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "app/media/files/content_type.h"
#include "app/media/files/media_file.h"

namespace winnow::app {

struct ContainerExtent {
  std::int64_t missingBytes = 0;  // claimed, but after the end of the file
  bool unfinished = false;        // the end is not there, and nothing says how much is missing
  bool hasIndex = true;           // MP4: a moov box was found
  bool fragmented = false;        // MP4: moof boxes, so the index does not cover the file
  std::int64_t ownBytes = 0;      // of the first video: from the file's beginning to its end, or to the next one's beginning
  std::int64_t behindBytes = 0;   // much that stands behind its end
  std::string behind{};           // the container that these begin; empty: no video
};

// A container's bytes as the names that stand in them.
inline std::string_view charactersOf(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The bytes that [offset, offset + size) lacks in a file of `fileBytes`; sizes come from the file and may be anything up to 2^64 - 1.
std::int64_t missingBytes(std::int64_t fileBytes, std::int64_t offset, std::uint64_t size);

// For an AVI file: chunks of the stream that hold no picture and stand behind `from`, where its last picture ends.
std::int64_t emptyAviChunks(const MediaFile& file, std::int64_t from, int stream);

// So many of a file's bytes that they hardly are an index or a trailer.
bool isMuch(std::int64_t bytes, std::int64_t fileBytes);

ContainerExtent measureExtent(const MediaFile& file, ContentType type);

}  // namespace winnow::app
