// The eight ways a picture can lie, numbered as in EXIF, and how to put it upright.
//
// Sources: the EXIF orientation of still images and the display matrix of videos. Pure functions.
#pragma once

#include <cstdint>
#include <span>

#include "engine/media/frame_source.h"

namespace winnow::app {

// The turn that shows the stored picture upright. Values are EXIF's.
enum class Orientation : int {
  kUpright = 1,
  kMirror = 2,  // left-right
  kRotate180 = 3,
  kFlip = 4,       // upside down, not turned
  kTranspose = 5,  // rows become columns
  kRotate90 = 6,   // clockwise
  kTransverse = 7,
  kRotate270 = 8,  // clockwise
};

inline bool swapsSides(Orientation orientation) { return static_cast<int>(orientation) >= 5; }

// Degrees clockwise (0, 90, 180, 270), with a mirror image left out of account.
int clockwiseDegrees(Orientation orientation);

RgbImage makeUpright(RgbImage image, Orientation orientation);

// Orientation in a TIFF structure (the body of an EXIF block); kUpright when there is none or the block is damaged. Bounded: looks at the
// first directory only, at most 512 entries.
Orientation orientationFromTiff(std::span<const std::uint8_t> tiff);

// matrix: the nine numbers of a display matrix. Angles that are no multiple of a right angle give kUpright with `exact` false.
struct MatrixOrientation {
  Orientation orientation = Orientation::kUpright;
  bool exact = true;
};
MatrixOrientation orientationFromMatrix(std::span<const std::int32_t, 9> matrix);

}  // namespace winnow::app
