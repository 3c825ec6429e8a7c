// 8-bit antialiased resizing with the fixed-point arithmetic of the two libraries that the reference processors use.
//
// Used by the families' image processors. Two passes, one per axis, each rounded to 8 bits. Pillow keeps 22 fractional bits of every
// weight; torch's uint8 kernels (torchvision's antialias=True) keep as many as fit int16. Both are reproduced bit for bit
// (src/libImaging/Resample.c of Pillow, aten/src/ATen/native/cpu/UpSampleKernel.cpp of PyTorch), so that a picture has the
// same bytes here and there. No torch. Threads: plain functions.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/vision/pixel_size.h"

namespace winnow {

enum class ResizeArithmetic : int { kPillow = 1, kTorch = 2 };

// An RGB8 picture on a canvas of one colour that is never stored: a square around a 200:1 picture would take 200 times its memory.
struct RgbCanvas {
  const std::uint8_t* rgb_view = nullptr;  // [picture.height, picture.width, 3], packed; borrowed
  PixelSize picture;
  PixelSize canvas;  // the picture, or a square around it (the target is a square then)
  PixelSize origin;  // of the picture on the canvas
  std::array<std::uint8_t, 3> colour = {0, 0, 0};
};

// [target.height, target.width, 3], packed. All sizes positive; kLanczos in Pillow's arithmetic only.
std::vector<std::uint8_t> resize_rgb8(const RgbCanvas& source, PixelSize target, ResampleFilter filter, ResizeArithmetic arithmetic);

}  // namespace winnow
