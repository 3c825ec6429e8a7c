// Which cells of a picture need not be encoded because their pixels equal what their neighbours predict (PixelPrune).
//
// Wang et al., arXiv 2604.00886. A cell X with left A, above B, above-left C is predicted by B if C equals A and not B, else by A; in the
// first row by A, in the first column by B. It leaves if it equals its prediction; the first cell of a picture stays. A cell that left
// stands for its prediction in later comparisons. Ours, for videos: a cell also leaves if it equals the same cell of the picture before.
// Two cells are equal if no value differs by more than the threshold, of pixels in [0, 1]. Used by segment/media_encoder.h. Threads: plain
// values.
#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "engine/vision/pixel_values.h"

namespace winnow {

class EqualPixels {
 public:
  explicit EqualPixels(double threshold) : threshold_(threshold) {}

  // Per cell of each picture, in order, whether it stays; pictures of a video come in order, in any number of calls. pixels: with `cells`.
  // whole: per picture, true: all of it stays; empty: none.
  std::vector<bool> kept(const PixelValues& pixels, const std::vector<bool>& whole);

 private:
  const double threshold_;
  std::vector<float> before_;  // of the last picture, cell by cell: what stands for it
};

}  // namespace winnow
