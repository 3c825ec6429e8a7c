// From bytes to the numbers that a vision tower takes, per channel: a table of 256, exact to the order of operations of the reference.
//
// Used by the families' image processors. Plain values and functions, no torch.
#pragma once

#include <array>

namespace winnow {

// value = (byte * rescale_factor - mean) / standard_deviation, per channel in RGB order; the steps switched off are left out.
struct PixelScaling {
  bool rescale = true;
  double rescale_factor = 1.0 / 255.0;
  bool normalize = true;
  std::array<double, 3> mean = {0.48145466, 0.4578275, 0.40821073};
  std::array<double, 3> standard_deviation = {0.26862954, 0.26130258, 0.27577711};
};

// The value of every byte per channel: scaling is a table look-up, and exact to the reference's order of operations.
using ByteTable = std::array<std::array<float, 256>, 3>;

// numpy: the product in double precision, rounded to single; then (x - mean) / std in single precision.
ByteTable pillow_table(const PixelScaling& scaling);

// torchvision path: rescaling is folded into mean and deviation, all in single precision.
ByteTable torch_table(const PixelScaling& scaling);

}  // namespace winnow
