// A video file opened once more: a demuxer, a decoder and a converter of their own, so that several can work at once.
//
// Used by VideoFrameSource. File, facts and watch are borrowed. Errors: as video_container.h and video_decoder.h. Threads: one at a time.
#pragma once

#include <memory>
#include <vector>

#include "app/media/files/decode_watch.h"
#include "app/media/files/pixel_conversion.h"
#include "app/media/files/video_container.h"
#include "app/media/files/video_decoder.h"
#include "app/media/files/video_probe.h"
#include "engine/media/media_notice.h"

namespace winnow::app {

class VideoReader {
 public:
  // threads: FFmpeg's own.
  VideoReader(std::unique_ptr<VideoContainer> container, const VideoFacts& facts, const MediaLimits& limits, const DecodeWatch& watch,
              int threads);

  SampledFrame frameAt(double askedS, VideoDecoder::Following following);
  const VideoDecoder& decoder() const { return m_decoder; }
  // Notices about the pictures that were read; the decoder has its own.
  const std::vector<MediaNotice>& notices() const { return m_notices; }

 private:
  // In the size that the header names, with its own shape between bars where that is another.
  RgbImage upright(const AVFrame& frame);

  std::unique_ptr<VideoContainer> m_container;
  const VideoFacts& m_facts;
  VideoDecoder m_decoder;
  FrameConverter m_converter;
  std::vector<MediaNotice> m_notices;
};

}  // namespace winnow::app
