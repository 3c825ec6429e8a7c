// How large a picture goes into the tower and which tokens it becomes: whole-number arithmetic without pixels or tensors.
//
// Used by patch_processor.h, qwen2_vl.h, qwen3_vl.h and so by the planner. Follows smart_resize of transformers' Qwen2-VL processors, of
// Qwen3-VL's for videos and of GLM-4V's, quotients in the same order in double precision, because their rounding decides a row more or
// less. A cell is what merge x merge patches become: a token. Sizes in pixels of the upright source. No torch. Threads: plain functions.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/token_origin.h"
#include "engine/models/qwen_vl_parts/patch_processor_config.h"
#include "engine/vision/pixel_size.h"

namespace winnow {

// Cells of one picture, row by row.
struct CellGrid {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t cells() const { return rows * columns; }
  friend bool operator==(const CellGrid&, const CellGrid&) = default;
};

// The configuration with other bounds: pictures of at most so many cells, as their min_pixels and max_pixels say it (all frames together
// count where they do in `config`, within the bound that it has); 0: as it is. Smaller pictures are grown to a quarter of that at most, so
// that what is gained by whole cells does not go beyond the bound. A picture that is longer than it has cells takes more, as smart_resize()
// leaves it one cell high.
PatchProcessorConfig of_at_most(std::int64_t cells, PatchProcessorConfig config, std::int64_t frames = 1);

// The nearest size of whole cells, its pixels within the configuration's bounds, its aspect ratio about the source's. frames: of a video
// whose frames are counted together (CountedPixels). Frames of Qwen3-VL that are smaller than a cell grow as pictures do, where
// transformers refuses them; so does a video of GLM-4V with fewer frames than a set, which counts as one. Errors: Exception
// kInvalidArgument for a source without area.
PixelSize smart_resize(PixelSize source, const PatchProcessorConfig& config, std::int64_t frames = 1);

CellGrid cell_grid(PixelSize source, const PatchProcessorConfig& config, std::int64_t frames = 1);

// One origin per token, pictures one after the other: `frame` is the first of those that are joined, rows and columns count cells.
// frames: 1 of an image.
std::vector<TokenOrigin> cell_origins(const CellGrid& grid, std::int64_t frames, std::int64_t joined_frames);

}  // namespace winnow
