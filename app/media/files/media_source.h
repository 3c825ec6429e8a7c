// A FrameSource with what the window and the terminal program want to know besides the pixels. Made by a MediaReader.
#pragma once

#include <string>
#include <vector>

#include "app/media/files/media_info.h"
#include "engine/media/frame_source.h"

namespace winnow::app {

class MediaSource : public FrameSource {
 public:
  virtual const MediaInfo& info() const = 0;
  PictureSize picture_size() const override { return {info().widthPx, info().heightPx}; }
  // Times that the plan asks for, in seconds; one 0 for an image.
  virtual const std::vector<double>& askedTimes() const = 0;
  std::vector<double> asked_times_s() const override { return askedTimes(); }
  std::vector<MediaNotice> notices() const override { return info().notices; }
};

}  // namespace winnow::app
