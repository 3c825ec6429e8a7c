// Pixels of images and video frames as rows of patches, resized and normalised as transformers does it.
//
// Used by qwen2_vl.cpp, qwen3_vl.cpp, mistral3.cpp and minicpmv.cpp. transformers 5.2 loads the torchvision image processor by default
// (Qwen2VLImageProcessorFast), whatever class the folder names, so images and frames both follow torchvision's 8-bit antialiased resize
// (resize.h). Input: upright RGB8 as pixel_size.h. Errors: those. Threads: const calls from several threads.
#pragma once

#include <ATen/ATen.h>

#include <span>

#include "engine/media/frame_source.h"
#include "engine/models/vision/patch_grid.h"
#include "engine/vision/pixel_size.h"
#include "engine/vision/pixel_values.h"

namespace winnow {

// Pictures in a row, resized to `target`, which is one of whole cells (smart_resize()). Sets of joined frames one after the other, the last
// picture as often as its set lacks some; patches in the tower's order: cell by cell, within a cell row by row. Returns fp32 [sets *
// patches, 3 * joined_frames * patch * patch], colours outermost.
at::Tensor patch_rows(std::span<const RgbImage> pictures, PixelSize target, const PatchProcessorConfig& config);

// The same with what is known of their cells, for towers that encode some of them. source: before resizing.
PixelValues patch_values(std::span<const RgbImage> pictures, PixelSize target, const PatchProcessorConfig& config, PictureSize source);

}  // namespace winnow
