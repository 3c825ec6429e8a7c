// How many bytes a Matroska file's outer structure says it has: the segment's size. Where that is not known (a browser's recording, a
// stream that was written to a file) the next file's beginning, and whether the last cluster is there as a whole.
//
// Used by container_extent.h. Reads up to kSearchedBytes for each.
#pragma once

#include "app/media/files/container_extent.h"

namespace winnow::app {

ContainerExtent measureMatroska(const MediaFile& file);

}  // namespace winnow::app
