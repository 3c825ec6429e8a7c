#include "app/media/files/video_frame_source.h"

#include <algorithm>
#include <system_error>
#include <thread>

#include "app/media/files/content_hash.h"
#include "app/media/files/deinterlacing.h"
#include "app/media/files/picture_geometry.h"
#include "app/media/files/shown_pictures.h"

namespace winnow::app {

VideoReader::VideoReader(std::unique_ptr<VideoContainer> container, const VideoFacts& facts, const MediaLimits& limits,
                         const DecodeWatch& watch, int threads)
    : m_container(std::move(container)),
      m_facts(facts),
      m_decoder(*m_container, limits, watch, facts.indexTrust, threads),
      m_converter(m_container->path()) {}

SampledFrame VideoReader::frameAt(double askedS, VideoDecoder::Following following) {
  SampledFrame sampled{.asked_s = askedS};
  const VideoDecoder::Shown shown = m_decoder.frameAt(askedS, following);
  sampled.actual_s = shown.startS;
  const Deinterlaced whole = deinterlace(*shown.frame);
  if (whole.differing > kLeastDiffering) add_notice(m_notices, {NoticeCode::kInterlaced});
  sampled.image = upright(whole.frame ? *whole.frame : *shown.frame);
  return sampled;
}

RgbImage VideoReader::upright(const AVFrame& frame) {
  const PictureSize box{m_facts.storedWidthPx, m_facts.storedHeightPx};
  const AVCodecParameters& header = *m_container->stream().codecpar;
  PictureSize size = box;
  if (frame.width != header.width || frame.height != header.height) {
    AVFrame shape = frame;  // FFmpeg has no const view
    const AVRational pixel = av_guess_sample_aspect_ratio(&m_container->format(), &m_container->stream(), &shape);
    size = fitInside({squarePixelWidth(frame.width, pixel).value_or(frame.width), frame.height}, box);
  }
  if (size.width_px == box.width_px && size.height_px == box.height_px)
    return m_converter.convert(frame, size.width_px, size.height_px, m_facts.orientation, ColourHint::kVideo);
  add_notice(m_notices, {NoticeCode::kShapeDiffers, frame.width, frame.height});
  RgbImage picture = m_converter.convert(frame, size.width_px, size.height_px, Orientation::kUpright, ColourHint::kVideo);
  return makeUpright(centredOnBlack(picture, box), m_facts.orientation);
}

VideoFrameSource::VideoFrameSource(std::unique_ptr<MediaFile> file, ContentType type, const FramePlan& plan, const MediaLimits& limits,
                                   const InterruptToken& interrupt)
    : m_file(std::move(file)), m_type(type), m_limits(limits) {
  m_watch.arm(interrupt, limits.decodeBudgetMs);
  m_watch.check(m_file->path());
  const ContainerExtent extent = measureExtent(*m_file, type);
  m_ownBytes = extent.ownBytes;
  requirePlayable(*m_file, type, extent);
  auto container = std::make_unique<VideoContainer>(*m_file, type, m_ownBytes, m_limits, m_watch);
  m_facts = examineVideo(*container, *m_file, extent, m_limits, m_watch);
  ShownPictures pictures(*container, m_facts);
  const AskedTimes asked = planFrames(plan, m_facts.info.durationS, m_limits.plannedFrames, m_facts.info.playsS);
  // A plan of one frame does not look up when it is shown before it is read.
  const bool looks = plan.max_frames > 1;
  m_planned = takenOf(dropRepeats(asked, plan.max_frames,
                                  [&](double timeS) {
                                    return looks ? pictures.at(timeS) : OnScreen{timeS, timeS};
                                  }),
                      plan);
  const std::int64_t repeats = m_planned.repeats;
  if (repeats > 0) add_notice(m_planNotices, {NoticeCode::kRepeatsLeftOut, repeats, repeats + m_planned.planned});
  if (m_planned.endS < m_planned.toS)
    add_notice(m_planNotices, {NoticeCode::kPlanFull, plan.max_frames, static_cast<std::int64_t>(m_planned.endS)});
  std::vector<std::int64_t> keyframes(m_planned.askedS.size(), -1);
  if (m_facts.indexTrust == VideoDecoder::IndexTrust::kTrusted) {
    std::ranges::transform(m_planned.askedS, keyframes.begin(),
                           [&](double askedS) { return container->indexedKeyframe(container->ticksAt(askedS)); });
  }
  const AVCodecParameters& picture = *container->stream().codecpar;
  m_decoding = planDecoding(m_planned.askedS, keyframes, std::int64_t{picture.width} * picture.height, m_limits);
  m_readers.resize(static_cast<std::size_t>(m_decoding.decoders));
  m_readers.front() = makeReader(std::move(container));
}

std::string VideoFrameSource::content_hash() const {
  if (m_hash.empty()) m_hash = contentHash(*m_file);
  return m_hash;
}

std::unique_ptr<VideoReader> VideoFrameSource::makeReader(std::unique_ptr<VideoContainer> container) const {
  return std::make_unique<VideoReader>(std::move(container), m_facts, m_limits, m_watch, m_decoding.threadsEach);
}

VideoReader& VideoFrameSource::reader(std::size_t number) {
  std::unique_ptr<VideoReader>& reader = m_readers[number];
  if (!reader) {
    auto container = std::make_unique<VideoContainer>(*m_file, m_type, m_ownBytes, m_limits, m_watch);
    container->stream().start_time = m_facts.startTicks;
    container->setStretches(m_facts.stretches);
    reader = makeReader(std::move(container));
  }
  return *reader;
}

void VideoFrameSource::readShare(std::size_t number, std::size_t first, std::vector<Read>& frames) {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (m_decoding.decoder[first + i] != static_cast<int>(number)) continue;
    try {
      m_watch.check(m_file->path());
      const auto following = m_decoding.lastOfGroup[first + i] ? VideoDecoder::Following::kElsewhere : VideoDecoder::Following::kClose;
      frames[i].sampled = reader(number).frameAt(m_planned.askedS[first + i], following);
    } catch (...) {
      frames[i].failure = std::current_exception();
      return;
    }
  }
}

std::vector<SampledFrame> VideoFrameSource::read(int first, int count, const InterruptToken& interrupt) {
  if (first < 0 || count < 0 || first > frame_count() || count > frame_count() - first) {
    throw Exception(ErrorCode::kInvalidArgument, m_file->path(), "frames outside the plan were asked for");
  }
  m_watch.arm(interrupt, m_limits.decodeBudgetMs);
  const auto from = static_cast<std::size_t>(first);
  std::vector<Read> read(static_cast<std::size_t>(count));
  std::vector<std::size_t> needed;
  for (std::size_t i = from; i < from + read.size(); ++i) {
    const auto number = static_cast<std::size_t>(m_decoding.decoder[i]);
    if (std::ranges::find(needed, number) == needed.end()) needed.push_back(number);
  }
  {
    std::vector<std::jthread> others;
    for (std::size_t k = 1; k < needed.size(); ++k) {
      try {
        others.emplace_back([&, number = needed[k]] { readShare(number, from, read); });
      } catch (const std::system_error&) {
        readShare(needed[k], from, read);  // no more threads to be had
      }
    }
    if (!needed.empty()) readShare(needed.front(), from, read);
  }
  std::vector<SampledFrame> frames;
  frames.reserve(read.size());
  for (Read& frame : read) {
    if (frame.failure) std::rethrow_exception(frame.failure);
    if (!frames.empty()) frame.sampled.actual_s = std::max(frame.sampled.actual_s, frames.back().actual_s);
    frames.push_back(std::move(frame.sampled));
  }
  return frames;
}

DecodeCounters VideoFrameSource::counters() const {
  DecodeCounters all;
  for (const auto& reader : m_readers) {
    if (reader) all += reader->decoder().counters();
  }
  return all;
}

std::vector<MediaNotice> VideoFrameSource::notices() const {
  std::vector<MediaNotice> all = m_facts.info.notices;
  add_notices(all, m_planNotices);
  add_notices(all, m_subtitles.notices);
  for (const auto& reader : m_readers) {
    if (!reader) continue;
    add_notices(all, reader->decoder().notices());
    add_notices(all, reader->notices());
  }
  return all;
}

}  // namespace winnow::app
