// A planned sample of a video's frames as a FrameSource. Decodes on demand, in any order, cheapest in rising order.
//
// All frames have the size that info() names, whatever the stream changes to on its way. actual_s never falls within rising frames.
// Errors: kDamagedFile, kLimitExceeded (also for a plan or a spent budget), kInvalidArgument (plan, frame numbers), Interrupted; after
// Interrupted the source can be read again. Threads: one at a time.
#pragma once

#include <memory>
#include <utility>

#include "app/media/decode_watch.h"
#include "app/media/frame_plan.h"
#include "app/media/media_source.h"
#include "app/media/pixel_conversion.h"
#include "app/media/video_decoder.h"
#include "app/media/video_probe.h"

namespace winnow::app {

class VideoFrameSource final : public MediaSource {
 public:
  VideoFrameSource(std::unique_ptr<MediaFile> file, ContentType type, const FramePlan& plan, const MediaLimits& limits,
                   const InterruptToken& interrupt);

  MediaKind kind() const override { return MediaKind::kVideo; }
  double duration_s() const override { return m_planned.toS - m_planned.fromS; }
  int frame_count() const override { return static_cast<int>(m_planned.askedS.size()); }
  std::string content_hash() const override;
  std::vector<TimedLine> lines() const override { return m_lines; }
  std::vector<SampledFrame> read(int first, int count, const InterruptToken& interrupt) override;

  const MediaInfo& info() const override { return m_facts.info; }
  const std::vector<double>& askedTimes() const override { return m_planned.askedS; }
  std::vector<std::string> notices() const override;
  // Subtitles that are wanted with the frames.
  void setLines(std::vector<TimedLine> lines) { m_lines = std::move(lines); }
  const DecodeCounters& counters() const { return m_decoder->counters(); }

 private:
  std::unique_ptr<MediaFile> m_file;
  const MediaLimits m_limits;
  DecodeWatch m_watch;
  std::unique_ptr<VideoContainer> m_container;
  VideoFacts m_facts;
  PlannedFrames m_planned;
  std::vector<TimedLine> m_lines;
  std::unique_ptr<VideoDecoder> m_decoder;
  FrameConverter m_converter;
  mutable std::string m_hash;
};

}  // namespace winnow::app
