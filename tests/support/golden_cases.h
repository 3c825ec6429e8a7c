// Of golden cases: their pictures, drawn as tests/golden/make/family_golden.py draws them, and the columns that it keeps of wide matrices.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>
#include <vector>

#include "engine/media/frame_source.h"
#include "tests/support/golden_tensors.h"

namespace winnow::test_support {

inline RgbImage golden_picture(int height_px, int width_px, int seed) {
  RgbImage picture{width_px, height_px, {}};
  for (int y = 0; y < height_px; ++y) {
    for (int x = 0; x < width_px; ++x) {
      for (int colour = 0; colour < 3; ++colour) {
        const int value = 40 * (colour + 1) + x * (3 + seed % 5) + y * (7 - seed % 4) + 60 * ((x / 7 + y / 5 + seed) % 3);
        picture.rgb.push_back(static_cast<std::uint8_t>(value % 256));
      }
    }
  }
  return picture;
}

// Of a case's media, one after the other.
inline std::vector<RgbImage> golden_pictures(const GoldenTensors& golden, const std::string& name) {
  const at::Tensor drawn = golden.load(name + ".pictures").to(at::kInt);
  std::vector<RgbImage> pictures;
  for (std::int64_t i = 0; i < drawn.size(0); ++i)
    pictures.push_back(golden_picture(drawn[i][0].item<int>(), drawn[i][1].item<int>(), drawn[i][2].item<int>()));
  return pictures;
}

// Those of `whole` that are in the golden file: every fifth, or all.
inline at::Tensor kept_columns(const at::Tensor& whole, const at::Tensor& golden) {
  return whole.sizes() == golden.sizes() ? whole : whole.slice(1, 0, whole.size(1), 5);
}

}  // namespace winnow::test_support
