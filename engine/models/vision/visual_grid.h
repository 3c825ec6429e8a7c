// Which visual tokens an image or video becomes: whole-number arithmetic without pixels or tensors.
//
// Used by picture_preparation (tiling), tile_packing and the families, whose counts need no tower (planner). Follows transformers'
// LLaVA-NeXT and LLaVA-OneVision, function by function: select_best_resolution, get_patch_output_size, get_anyres_image_grid_shape,
// unpad_image, pack_image_features and _get_number_of_features; the quotients are computed in the same order in double precision, because
// their rounding decides a row more or less. Sizes in pixels of the upright source, grids in patches. No torch. Threads: plain functions.
// Errors: Exception kInvalidArgument for a source without area, kUnsupportedModel where transformers itself refuses (GridRules).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/token_origin.h"
#include "engine/vision/pixel_size.h"

namespace winnow {

inline constexpr std::int64_t kMostTilesOfAGrid = 1024;

struct GridRules {
  std::vector<PixelSize> pinpoints;
  std::int64_t side_px = 384;          // of one tile: vision_config.image_size
  std::int64_t patches_per_side = 27;  // of one tile: image_size / patch_size, rounded down
  // N of LLaVA-OneVision's "anyres_max_N": a larger grid is reduced to about so many tiles. LLaVA-NeXT reduces none.
  std::optional<std::int64_t> max_tiles{};
  // vision_feature_select_strategy "default": the first feature of each tile is dropped. SigLIP has no class token, so that what is left
  // is no square; like transformers, only images without tiling can be packed then.
  bool drop_first_feature = false;
};

// The stitched feature map of an image's tiles, from the full grid to what is left after unpadding and scaling.
struct PackedGrid {
  std::int64_t tile_rows = 0;
  std::int64_t tile_columns = 0;
  std::int64_t first_row = 0;  // unpadding keeps rows [first_row, first_row + unpadded_rows) of the stitched map
  std::int64_t first_column = 0;
  std::int64_t unpadded_rows = 0;
  std::int64_t unpadded_columns = 0;
  std::int64_t rows = 0;  // after bilinear scaling down to about max_tiles tiles; equal to unpadded_* when there is none
  std::int64_t columns = 0;
  bool scaled() const { return rows != unpadded_rows || columns != unpadded_columns; }
};

// The pinpoint that keeps most of the image's resolution; among equals the one that wastes least, then the first.
PixelSize best_resolution(PixelSize source, std::span<const PixelSize> pinpoints);

// Largest size inside `target` with the source's aspect ratio, rounded up.
PixelSize fitted_size(PixelSize source, PixelSize target);

PackedGrid packed_grid(PixelSize source, const GridRules& rules);

// The most tokens that an image takes at a resolution: the base tile, the grid, a newline after each row.
std::int64_t most_tokens_at(PixelSize pinpoint, const GridRules& rules);
// The rules with those resolutions alone at which no image takes more tokens; without any, that of one tile. tokens 0: as they are.
GridRules of_at_most(std::int64_t tokens, GridRules rules);
// The most that an image takes at a resolution of at most so many tiles, or of one.
std::int64_t most_tokens_of_tiles(std::int64_t tiles, const GridRules& rules);

// One origin per token, modality kVisual, `media` left at -1.
TokenOrigin visual_origin(std::int64_t frame, std::int64_t row, std::int64_t column);
// Frames of side x side tokens, row by row.
std::vector<TokenOrigin> frame_origins(std::int64_t frames, std::int64_t side);
// The origin of a token that is no patch (a newline embedding, a class token): row and column are -1.
TokenOrigin origin_beside_patches(std::int64_t frame);
// An image of tiles: base tile, then the packed grid row by row with a newline after each row. Rows and columns count in the packed grid,
// `frame` names the tile (1 = top left, row by row) under the token's centre; the base tile is 0. A newline has the tile of the row it
// ends.
std::vector<TokenOrigin> anyres_image_origins(PixelSize source, const GridRules& rules);

}  // namespace winnow
