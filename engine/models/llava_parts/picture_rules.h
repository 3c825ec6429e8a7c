// How one picture becomes the square that a vision tower takes, as the processor files of the LLaVA models describe it.
//
// Read by the families' configurations, used by picture_preparation.h. Filter and scaling are read by picture_config.h. Errors: Exception;
// kDamagedFile, kLimitExceeded, kUnsupportedModel naming file and key. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/vision/pixel_scaling.h"
#include "engine/vision/pixel_size.h"
#include "engine/vision/resize.h"

namespace winnow {

inline constexpr std::int64_t kMaxProcessedSidePx = 4096;

struct PictureRules {
  PixelSize size = {384, 384};  // what the tower gets
  // 0: the picture is resized to `size`. Else its shorter side becomes so long, and the centre of `size` is cut out, black where it ends.
  std::int64_t shortest_edge_px = 0;
  bool pad_to_square = false;  // before that, with the mean colour
  ResampleFilter filter = ResampleFilter::kBicubic;
  PixelScaling scaling;
  ResizeArithmetic arithmetic = ResizeArithmetic::kTorch;  // of resizing and of scaling
};

// [[height, width], ...] under `key`, 1 to 256 pairs of 1 to 16,384 px.
std::vector<PixelSize> read_grid_pinpoints(const JsonObject& object, const char* key);

}  // namespace winnow
