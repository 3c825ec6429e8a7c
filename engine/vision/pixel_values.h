// Pixels as the vision tower takes them.
//
// Made and consumed by the families (engine/models). Threads: engine thread.
#pragma once

#include <ATen/ATen.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace winnow {

// Pictures that are rows of patches, the patches of a cell behind one another (Qwen-VL).
struct PixelCells {
  std::int64_t rows = 0;  // of a picture
  std::int64_t columns = 0;
  std::int64_t cell_values = 0;
  std::int64_t colour_values = 0;        // of a patch, colour by colour
  std::array<double, 3> deviation = {};  // by which values in [0, 1] were divided, per colour
};

struct PixelValues {
  at::Tensor pixels;                  // fp32; LLaVA: [tiles or frames, 3, side, side], base tile first; Qwen2-VL: [patches, values]
  std::int64_t source_height_px = 0;  // before resizing
  std::int64_t source_width_px = 0;
  std::optional<PixelCells> cells{};  // of a tower that can encode some cells of a picture by themselves
  std::vector<bool> kept{};           // per cell of each picture: encoded; empty: all are
};

}  // namespace winnow
