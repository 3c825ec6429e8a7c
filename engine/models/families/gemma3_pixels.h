// Pixels of an image as Gemma 3's tower takes them: the whole and, with pan and scan, its crops, each resized to a square and scaled.
//
// Used by gemma3.cpp. Follows transformers' Gemma3ImageProcessorFast (torchvision) or Gemma3ImageProcessor (Pillow); which is the folder's
// choice (gemma3_folder.h). Input: upright RGB8, see vision/pixel_size.h. Errors: those of picture_preparation.h. Threads: plain
// function.
#pragma once

#include "engine/media/frame_source.h"
#include "engine/models/families/gemma3_folder.h"
#include "engine/vision/pixel_values.h"

namespace winnow {

// [1 + crops, 3, side, side], fp32.
PixelValues gemma3_squares(const RgbImage& picture, const Gemma3Pixels& pixels);

}  // namespace winnow
