// One picture of the two fields of an interlaced frame, which were taken at different times: lines of the later field are filled in from
// the earlier one where the two differ; elsewhere both stay, so that what stands still keeps all its lines.
//
// Used by VideoReader and LiveSource, before colours are converted. Pure.
#pragma once

#include "app/media/files/av_handles.h"

namespace winnow::app {

struct Deinterlaced {
  AvFrame frame;           // null: the frame is not interlaced, or of a format whose lines cannot be told apart
  double differing = 0.0;  // share of the brightness samples that were filled in, 0 to 1
};

Deinterlaced deinterlace(const AVFrame& frame);

// A share below it is noise and sharp edges.
inline constexpr double kLeastDiffering = 0.005;

}  // namespace winnow::app
