// Pixels as the vision tower takes them.
//
// Made and consumed by the families (engine/models). Threads: engine thread.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace winnow {

struct PixelValues {
  at::Tensor pixels;                  // fp32; LLaVA: [tiles or frames, 3, side, side], base tile first; Qwen2-VL: [patches, values]
  std::int64_t source_height_px = 0;  // before resizing
  std::int64_t source_width_px = 0;
};

}  // namespace winnow
