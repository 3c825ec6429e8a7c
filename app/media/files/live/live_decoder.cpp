#include "app/media/files/live/live_decoder.h"

#include <algorithm>

namespace winnow::app {
namespace {

constexpr DecoderThreads kThreads{2, FF_THREAD_SLICE};
constexpr double kLiveFrameS = 0.04;
constexpr double kLongestFrameS = 1.0;
// A source that gives this much and no picture is damaged.
constexpr std::int64_t kMostBytesWithoutFrame = 64LL << 20;

double usualFrameS(const AVStream* stream) {
  if (stream == nullptr || stream->avg_frame_rate.num <= 0 || stream->avg_frame_rate.den <= 0) return kLiveFrameS;
  return std::clamp(1.0 / av_q2d(stream->avg_frame_rate), 0.001, kLongestFrameS);
}

}  // namespace

LiveDecoder::LiveDecoder(LiveContainer& container, const MediaLimits& limits)
    : m_container(container),
      m_limits(limits),
      m_frameTimes(container.type()),
      m_clock(usualFrameS(container.video().stream)),
      m_packet(makePacket()) {
  m_end = container.end();
  if (m_end != LiveEnd::kNotYet) return;
  // Every picture as soon as it is there: no threads that keep some back.
  m_codec = openVideoDecoder(container.video(), limits, container.address(), kThreads);
  m_tickS = av_q2d(container.video().stream->time_base);
  if (const auto origin = container.originS()) m_clock.beginAt(*origin);
}

std::optional<LiveDecoder::Timed> LiveDecoder::next() {
  AvFrame frame = makeFrame();
  while (m_end == LiveEnd::kNotYet) {
    const int result = avcodec_receive_frame(m_codec.get(), frame.get());
    if (result == AVERROR_EOF && m_replacing) {
      m_codec = openVideoDecoder(m_container.video(), m_limits, m_container.address(), kThreads);
      m_tickS = av_q2d(m_container.video().stream->time_base);
      m_replacing = m_draining = false;
      m_frameTimes.restart();
      continue;
    }
    if (result == AVERROR_EOF) {
      m_end = m_container.end();
      if (m_container.brokeOff()) add_notice(m_notices, {NoticeCode::kConnectionBroke});
      break;
    }
    if (result < 0) {
      // Data before the first whole picture of a stream that was joined in its middle is no damage.
      if (result != AVERROR(EAGAIN) && m_seen) add_notice(m_notices, {NoticeCode::kDamaged});
      if (result == AVERROR(EAGAIN) || !m_draining) feed();
      continue;
    }
    if ((frame->flags & AV_FRAME_FLAG_CORRUPT) != 0) {
      if (m_seen) add_notice(m_notices, {NoticeCode::kDamaged});
      continue;
    }
    if (frame->decode_error_flags != 0) add_notice(m_notices, {NoticeCode::kDamaged});
    m_seen = true;
    m_bytesWithoutFrame = 0;
    const double timeS = place(*frame);
    return Timed{std::move(frame), timeS};
  }
  return std::nullopt;
}

double LiveDecoder::place(const AVFrame& frame) {
  const std::int64_t jumps = m_clock.jumps();
  std::optional<double> stampS;
  const std::int64_t ticks = m_frameTimes.of(frame, *m_codec);
  if (ticks != AV_NOPTS_VALUE) stampS = static_cast<double>(ticks) * m_tickS;
  const double timeS = m_clock.place(stampS, static_cast<double>(frame.pkt_duration) * m_tickS);
  if (m_clock.jumps() != jumps) add_notice(m_notices, {NoticeCode::kTimeJumps});
  return timeS;
}

void LiveDecoder::feed() {
  if (!m_pending) {
    const LiveContainer::Read read = m_container.readPacket(*m_packet);
    if (read != LiveContainer::Read::kPacket) {
      m_draining = true;
      m_replacing = m_pending = read == LiveContainer::Read::kNewVideo;
      avcodec_send_packet(m_codec.get(), nullptr);
      return;
    }
    m_bytesWithoutFrame += m_packet->size;
    if (m_bytesWithoutFrame > kMostBytesWithoutFrame) {
      m_end = LiveEnd::kDamaged;
      return;
    }
  }
  send();
}

void LiveDecoder::send() {
  const int result = avcodec_send_packet(m_codec.get(), m_packet.get());
  m_pending = result == AVERROR(EAGAIN);  // frames wait inside; they are taken first
  if (!m_pending) m_frameTimes.fed(*m_packet);
  if (result < 0 && !m_pending && m_seen) add_notice(m_notices, {NoticeCode::kDamaged});
}

}  // namespace winnow::app
