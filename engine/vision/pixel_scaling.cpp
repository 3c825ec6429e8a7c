#include "engine/vision/pixel_scaling.h"

#include <cstddef>

namespace winnow {

ByteTable pillow_table(const PixelScaling& scaling) {
  ByteTable table{};
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      auto value = static_cast<float>(byte);
      if (scaling.rescale) value = static_cast<float>(static_cast<double>(byte) * scaling.rescale_factor);
      if (scaling.normalize) value = (value - static_cast<float>(scaling.mean[c])) / static_cast<float>(scaling.standard_deviation[c]);
      table[c][byte] = value;
    }
  }
  return table;
}

ByteTable torch_table(const PixelScaling& scaling) {
  ByteTable table{};
  const float fold = scaling.rescale ? static_cast<float>(1.0 / scaling.rescale_factor) : 1.0F;
  for (std::size_t c = 0; c < 3; ++c) {
    const float mean = static_cast<float>(scaling.mean[c]) * fold;
    const float deviation = static_cast<float>(scaling.standard_deviation[c]) * fold;
    for (std::size_t byte = 0; byte < 256; ++byte) {
      auto value = static_cast<float>(byte);
      if (scaling.normalize) {
        value = (value - mean) / deviation;
      } else if (scaling.rescale) {
        value *= static_cast<float>(scaling.rescale_factor);
      }
      table[c][byte] = value;
    }
  }
  return table;
}

}  // namespace winnow
