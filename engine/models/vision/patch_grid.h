// How large a picture goes into the tower and which tokens it becomes: whole-number arithmetic without pixels or tensors.
//
// Used by patch_processor.h, qwen2_vl.cpp, qwen3_vl.cpp and so by the planner. Follows smart_resize of transformers' Qwen2-VL processors,
// of Qwen3-VL's for videos and of GLM-4V's, quotients in the same order in double precision, because their rounding decides a row more or
// less. A cell is what merge x merge patches become: a token. Sizes in pixels of the upright source. No torch. Threads: plain functions.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/base/token_origin.h"
#include "engine/model_files/model_package.h"
#include "engine/models/model_info.h"
#include "engine/vision/pixel_scaling.h"
#include "engine/vision/pixel_size.h"

namespace winnow {

// How a folder of Qwen2-VL, Qwen2.5-VL, Qwen3-VL or GLM-4V wants its pixels: preprocessor_config.json, video_preprocessor_config.json,
// processor_config.json. What is not written has the defaults of transformers' classes, a folder without any document all of them. Bounds
// on a picture's pixels are written in two ways, `size: {shortest_edge, longest_edge}` and `min_pixels`, `max_pixels`; the second goes
// first where both are there, one by one.

inline constexpr std::int64_t kMaxPatchPx = 64;
inline constexpr std::int64_t kMaxMerge = 16;
inline constexpr std::int64_t kMaxJoinedFrames = 8;

// The sizes that processors and tower have to agree on.
struct PatchGeometry {
  std::int64_t patch_px = 14;
  std::int64_t merge = 2;          // patches a side that become one token: a cell
  std::int64_t joined_frames = 2;  // that become one set of tokens; an image so many times

  std::int64_t cell_px() const { return patch_px * merge; }
  std::int64_t cell_patches() const { return merge * merge; }
};

// The picture or frames whose pixels the bounds count.
enum class CountedPixels : int {
  kOfPicture = 1,
  kOfVideo = 2,  // of all frames together, the last as often as its set lacks some (Qwen3-VL's videos)
  kOfSets = 3,   // of all frames together, in the nearest number of sets; an image counts as a set (GLM-4V)
};

struct PatchProcessorConfig {
  std::int64_t min_pixels = std::int64_t{56} * 56;  // of a picture as the tower gets it
  std::int64_t max_pixels = std::int64_t{1280} * 28 * 28;
  CountedPixels counted = CountedPixels::kOfPicture;
  PatchGeometry patches{};
  ResampleFilter filter = ResampleFilter::kBicubic;
  PixelScaling scaling{};
};

struct QwenVlProcessors {
  PatchProcessorConfig image{};
  PatchProcessorConfig video;
};

// defaults: where the object says nothing.
PatchProcessorConfig parse_patch_processor(const JsonObject& object, PatchProcessorConfig defaults);

// tower: what config.json says. defaults: of the classes that the family's processors have.
QwenVlProcessors read_patch_processors(const ModelPackage& package, const PatchGeometry& tower, const QwenVlProcessors& defaults);

// The detail that models offer whose pictures become cells in their own proportions: any number of tokens. A word stands for about 450, 900
// and 1,800 px a side of cells of 28 px; for frames, of which a video has many, for half as much a side; `high` is what Qwen2-VL's and
// Qwen3-VL's own files give a frame.

inline constexpr DetailChoices kCellsOfPictures = {DetailKind::kAnySize, 256, 1024, 4096, 0};
inline constexpr DetailChoices kCellsOfFrames = {DetailKind::kAnySize, 64, 256, 768, 0};

// For a model whose processors are bounded by pixels.
inline void offer_cells(ModelInfo& info, const PatchGeometry& patches) {
  info.picture_detail = kCellsOfPictures;
  info.frame_detail = kCellsOfFrames;
  info.picture_detail.token_px = info.frame_detail.token_px = patches.cell_px();
}

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
