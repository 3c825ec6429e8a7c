// A planned sample of a video's frames as a FrameSource. Decodes on demand, in any order, cheapest in rising order and several at a time.
//
// All frames have the size that info() names, whatever the stream changes to on its way; pictures of another shape lie between bars.
// actual_s never falls within rising frames. Errors: kDamagedFile, kLimitExceeded (also for a plan or a spent budget), kInvalidArgument
// (plan, frame numbers), Interrupted; after Interrupted the source can be read again; of several frames that cannot be read the earliest
// one's error is thrown. Threads: one at a time; read() decodes on threads of its own as well (decoding_plan.h), which end before it does.
#pragma once

#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "app/media/files/decode_watch.h"
#include "app/media/files/decoding_plan.h"
#include "app/media/files/frame_plan.h"
#include "app/media/files/media_reader.h"
#include "app/media/files/pixel_conversion.h"
#include "app/media/files/subtitle_text.h"
#include "app/media/files/video_container.h"
#include "app/media/files/video_decoder.h"
#include "app/media/files/video_probe.h"
#include "engine/media/media_notice.h"

namespace winnow::app {

// A video file opened once more: a demuxer, a decoder and a converter of their own, so that several can work at once.
//
// File, facts and watch are borrowed. Errors: as video_container.h and video_decoder.h.
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

class VideoFrameSource final : public MediaSource {
 public:
  VideoFrameSource(std::unique_ptr<MediaFile> file, ContentType type, const FramePlan& plan, const MediaLimits& limits,
                   const InterruptToken& interrupt);

  MediaKind kind() const override { return MediaKind::kVideo; }
  double duration_s() const override { return m_planned.toS - m_planned.fromS; }
  int frame_count() const override { return static_cast<int>(m_planned.askedS.size()); }
  int planned_frames() const override { return m_planned.planned; }
  std::string content_hash() const override;
  std::vector<TimedLine> lines() const override { return m_subtitles.lines; }
  std::vector<SampledFrame> read(int first, int count, const InterruptToken& interrupt) override;

  const MediaInfo& info() const override { return m_facts.info; }
  const std::vector<double>& askedTimes() const override { return m_planned.askedS; }
  std::vector<double> shown_times_s() const override { return m_planned.shownS; }
  std::vector<double> standing_until_s() const override { return m_planned.untilS; }
  std::vector<MediaNotice> notices() const override;
  // Subtitles that are wanted with the frames.
  void setSubtitles(Subtitles subtitles) { m_subtitles = std::move(subtitles); }
  DecodeCounters counters() const;  // of all decoders
  const DecodingPlan& decoding() const { return m_decoding; }

 private:
  struct Read {
    SampledFrame sampled;
    std::exception_ptr failure;
  };

  std::unique_ptr<VideoReader> makeReader(std::unique_ptr<VideoContainer> container) const;
  VideoReader& reader(std::size_t number);
  // Reads those of frames [first, first + size) that are this decoder's, up to the first that fails.
  void readShare(std::size_t number, std::size_t first, std::vector<Read>& frames);

  std::unique_ptr<MediaFile> m_file;
  const ContentType m_type;
  const MediaLimits m_limits;
  DecodeWatch m_watch;
  std::int64_t m_ownBytes = 0;  // of the file, that this video has
  VideoFacts m_facts;
  PlannedFrames m_planned;
  std::vector<MediaNotice> m_planNotices;
  Subtitles m_subtitles;
  DecodingPlan m_decoding;
  std::vector<std::unique_ptr<VideoReader>> m_readers;  // the first is always there, the others once they are needed
  mutable std::string m_hash;
};

}  // namespace winnow::app
