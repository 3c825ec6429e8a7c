// The formula pictures of tests/golden/make/make_processor_golden.py.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/source_folder.h"

namespace winnow::test {

inline const std::string kProcessorGolden = source_folder() + "/tests/golden/processor";
inline constexpr const char* kRebuildHint = "rebuild with: python tests/golden/make/make_processor_golden.py";

// [height, width, 3], packed.
inline std::vector<std::uint8_t> golden_picture(std::int64_t height, std::int64_t width, std::int64_t seed) {
  std::vector<std::uint8_t> rgb;
  rgb.reserve(static_cast<std::size_t>(height * width * 3));
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      for (std::int64_t c = 0; c < 3; ++c) {
        std::int64_t value = x * (5 + seed) + y * (11 + 2 * seed) + c * 70 + (x * y + x * x * 3 + y * y * 5) / (7 + seed);
        if ((x / 5 + y / 3) % 4 == 0) value = 255 * ((x + y + c) % 2);
        rgb.push_back(static_cast<std::uint8_t>(value % 256));
      }
    }
  }
  return rgb;
}

}  // namespace winnow::test
