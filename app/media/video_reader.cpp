#include "app/media/video_reader.h"

#include <utility>

namespace winnow::app {

VideoReader::VideoReader(std::unique_ptr<VideoContainer> container, const VideoFacts& facts, const MediaLimits& limits,
                         const DecodeWatch& watch, int threads)
    : m_container(std::move(container)),
      m_facts(facts),
      m_decoder(*m_container, limits, watch, facts.indexTrust, threads),
      m_converter(m_container->path()) {}

SampledFrame VideoReader::frameAt(double askedS, VideoDecoder::Following following) {
  SampledFrame sampled;
  sampled.asked_s = askedS;
  const VideoDecoder::Shown shown = m_decoder.frameAt(askedS, following);
  sampled.actual_s = shown.startS;
  sampled.image = m_converter.convert(*shown.frame, m_facts.storedWidthPx, m_facts.storedHeightPx, m_facts.orientation, ColourHint::kVideo);
  return sampled;
}

}  // namespace winnow::app
