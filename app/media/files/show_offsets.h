// How much later the pictures of an MP4 are shown than they are decoded, which FFmpeg's index does not tell.
//
// Used by video_length.h. Read from the file's own table (ctts). Errors: kFileUnreadable.
#pragma once

#include <cstdint>
#include <vector>

#include "app/media/files/media_file.h"

namespace winnow::app {

// The offset of each of the track's `pictures`, in the order of decoding; in ticks of the track. Empty: the tables are not those of so many
// pictures.
std::vector<std::int32_t> showOffsets(const MediaFile& file, int trackId, std::size_t pictures);

}  // namespace winnow::app
