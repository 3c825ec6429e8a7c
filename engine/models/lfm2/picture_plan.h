// How LFM2-VL's processor sizes and cuts an image: whole numbers, without pixels.
//
// Used by lfm2_vl.h, by the tokens and the pixels alike. Follows transformers 5.24's Lfm2VlImageProcessor (smart_resize,
// _is_image_too_large, crop_image_to_patches) in double precision. A picture keeps its proportions and becomes whole cells within bounds on
// their number; one that is too large for that is stretched over tiles, too, and comes behind them as a thumbnail. Where a large picture's
// tiles are one, transformers announces another number of tokens than it makes; here such a picture is not cut. No torch. Threads: plain
// functions.
#pragma once

#include <cstdint>

#include "engine/models/tile_choice.h"
#include "engine/vision/pixel_scaling.h"
#include "engine/vision/pixel_size.h"

namespace winnow {

struct Lfm2PictureRules {
  std::int64_t patch_px = 16;
  std::int64_t merge = 2;  // patches along a cell's side; a cell is a token
  std::int64_t least_tokens = 64;
  std::int64_t most_tokens = 256;      // of a picture that is not cut
  double tolerance = 2.0;              // a picture of more than so many times most_tokens is cut
  TileBounds tiles{512, 2, 10, true};  // of at most one: pictures are not cut
  ResampleFilter filter = ResampleFilter::kBilinear;
  PixelScaling scaling{};

  std::int64_t cell_px() const { return patch_px * merge; }
  std::int64_t tile_side() const { return tiles.side_px / cell_px(); }  // tokens
  std::int64_t tile_tokens() const { return tile_side() * tile_side(); }
  bool cuts() const { return tiles.most > 1; }
  static constexpr std::int64_t kMarks = 2;  // around a picture
  static constexpr std::int64_t kName = 1;   // before a tile and the thumbnail
};

struct Lfm2PicturePlan {
  PixelSize whole;        // the thumbnail, or the picture that is not cut
  TileCount tiles;        // one: not cut
  bool thumbnail = true;  // behind the tiles

  bool cut() const { return tiles.tiles() > 1; }
  bool has_whole() const { return !cut() || thumbnail; }
};

Lfm2PicturePlan lfm2_picture_plan(PixelSize source, const Lfm2PictureRules& rules);

// Tokens of a picture: its two marks, each tile and the thumbnail behind its name.
std::int64_t tokens_of_plan(const Lfm2PicturePlan& plan, const Lfm2PictureRules& rules);
// The most tokens of a picture of so many tiles.
std::int64_t most_tokens_of_tiles(std::int64_t tiles, const Lfm2PictureRules& rules);

// The rules under which the picture takes at most so many tokens: as many tiles as fit beside the thumbnail, and where those are none,
// fewer tokens of the picture that is not cut; a small one is grown to a quarter of them at most. tokens 0: as they are.
Lfm2PictureRules of_at_most(std::int64_t tokens, PixelSize source, Lfm2PictureRules rules);

}  // namespace winnow
