#include "app/media/video_frame_source.h"

#include <algorithm>
#include <utility>

#include "app/media/content_hash.h"

namespace winnow::app {

VideoFrameSource::VideoFrameSource(std::unique_ptr<MediaFile> file, ContentType type, const FramePlan& plan, const MediaLimits& limits,
                                   const InterruptToken& interrupt)
    : m_file(std::move(file)), m_limits(limits), m_converter(m_file->path()) {
  m_watch.arm(interrupt, limits.decodeBudgetMs);
  m_watch.check(m_file->path());
  requirePlayable(*m_file, type);
  m_container = std::make_unique<VideoContainer>(*m_file, type, m_limits, m_watch);
  m_facts = examineVideo(*m_container, *m_file, m_limits, m_watch);
  m_planned = planFrames(plan, m_facts.info.durationS, m_facts.info.mostFrames, m_limits.plannedFrames);
  m_decoder = std::make_unique<VideoDecoder>(*m_container, m_limits, m_watch, m_facts.indexTrust);
}

std::string VideoFrameSource::content_hash() const {
  if (m_hash.empty()) m_hash = contentHash(*m_file);
  return m_hash;
}

std::vector<SampledFrame> VideoFrameSource::read(int first, int count, const InterruptToken& interrupt) {
  if (first < 0 || count < 0 || first > frame_count() || count > frame_count() - first) {
    throw Exception(ErrorCode::kInvalidArgument, m_file->path(), "frames outside the plan were asked for");
  }
  m_watch.arm(interrupt, m_limits.decodeBudgetMs);
  std::vector<SampledFrame> frames;
  frames.reserve(static_cast<std::size_t>(count));
  for (int i = first; i < first + count; ++i) {
    m_watch.check(m_file->path());
    SampledFrame sampled;
    sampled.asked_s = m_planned.askedS[static_cast<std::size_t>(i)];
    const VideoDecoder::Shown shown = m_decoder->frameAt(sampled.asked_s);
    sampled.actual_s = shown.startS;
    if (!frames.empty()) sampled.actual_s = std::max(sampled.actual_s, frames.back().actual_s);
    sampled.image =
        m_converter.convert(*shown.frame, m_facts.storedWidthPx, m_facts.storedHeightPx, m_facts.orientation, ColourHint::kVideo);
    frames.push_back(std::move(sampled));
  }
  return frames;
}

std::vector<std::string> VideoFrameSource::notices() const {
  std::vector<std::string> all = m_facts.info.notices;
  all.insert(all.end(), m_decoder->notices().begin(), m_decoder->notices().end());
  return all;
}

}  // namespace winnow::app
