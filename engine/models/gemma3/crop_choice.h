// Which crops pan and scan takes of a long picture beside the whole: whole numbers, without pixels.
//
// Used by gemma3.h for the tokens and the pixels alike. Follows pan_and_scan() of transformers' Gemma3ImageProcessor, quotients in double
// precision: so many crops side by side, or one above the other, as the longer side is longer, none where it is hardly so or where they
// would be small. No torch. Threads: plain functions.
#pragma once

#include <cstdint>

#include "engine/vision/pixel_size.h"

namespace winnow {

inline constexpr std::int64_t kMostCropsOfAnImage = 64;

struct CropRules {
  bool wanted = false;          // do_pan_and_scan
  std::int64_t least_px = 256;  // pan_and_scan_min_crop_size: of a crop's shorter side
  std::int64_t most = 4;        // pan_and_scan_max_num_crops, up to kMostCropsOfAnImage
  double least_ratio = 1.2;     // pan_and_scan_min_ratio_to_activate: of the longer side to the shorter
};

// rows x columns crops, one of which is 1. The last one ends with the picture, which may make it smaller.
struct CropGrid {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  PixelSize crop;

  std::int64_t crops() const { return rows * columns; }  // 0: the picture alone
};

// A picture without a size has no crops.
CropGrid crops_of(PixelSize picture, const CropRules& rules);

}  // namespace winnow
