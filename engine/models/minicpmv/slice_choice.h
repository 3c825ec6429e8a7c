// How MiniCPM-V cuts a picture: the whole of it, made smaller or larger, and slices of a larger one. Whole numbers, no pixels.
//
// Used by minicpmv.h for tokens and pixels alike. Follows find_best_resize(), get_refine_size() and get_sliced_grid() of transformers'
// MiniCPMV4_6ImageProcessor, which its video processor repeats; quotients and logarithms in double precision, because their rounding
// decides a row more or less. No torch. Threads: plain functions. Errors: kInvalidArgument for a picture without an area.
#pragma once

#include <cstdint>

#include "engine/models/qwen_vl_parts/patch_grid.h"
#include "engine/vision/pixel_size.h"

namespace winnow {

// The most slices that a detail may ask for: what the model's makers recommend for documents.
inline constexpr std::int64_t kMostSlicesAsked = 36;

struct SliceRules {
  std::int64_t scale_px = 448;   // a picture and a slice are about as large as such a square
  std::int64_t most_slices = 9;  // 1: nothing is cut
  std::int64_t patch_px = 14;
  std::int64_t joined = 4;       // patches along a token's side: 4 ("16x") or 2 ("4x")
  std::int64_t most_joined = 4;  // that a detail may ask for

  std::int64_t token_px() const { return patch_px * joined; }
};

// A picture as the vision encoder gets it: the whole, and slices of one size, row by row.
struct SlicedPicture {
  CellGrid whole;  // in tokens
  CellGrid slice;
  std::int64_t rows = 0;  // of slices; 0: nothing is cut
  std::int64_t columns = 0;

  std::int64_t slices() const { return rows * columns; }
  std::int64_t cells() const { return whole.cells() + slices() * slice.cells(); }
};

SlicedPicture sliced_picture(PixelSize source, const SliceRules& rules);

}  // namespace winnow
