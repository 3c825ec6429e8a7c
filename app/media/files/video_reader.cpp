#include "app/media/files/video_reader.h"

#include <utility>

#include "app/media/files/deinterlacing.h"
#include "app/media/files/picture_geometry.h"

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

}  // namespace winnow::app
