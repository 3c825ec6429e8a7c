// Pixels of an image as LFM2-VL's vision encoder takes them: resized, cut into tiles and patches, scaled.
//
// Used by lfm2_vl.h. Follows transformers' Lfm2VlImageProcessor (torchvision's arithmetic); patches that fill a batch up are left out.
// Input: upright RGB8, see vision/picture_limits.h. Threads: plain function.
#pragma once

#include <ATen/ATen.h>

#include "engine/media/frame_source.h"
#include "engine/models/lfm2/picture_plan.h"

namespace winnow {

// [patches, 3, patch, patch], fp32: of each tile, then of the whole picture, row by row.
at::Tensor lfm2_patches(const RgbImage& image, const Lfm2PicturePlan& plan, const Lfm2PictureRules& rules);

}  // namespace winnow
