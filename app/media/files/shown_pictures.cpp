#include "app/media/files/shown_pictures.h"

#include <algorithm>

namespace winnow::app {
namespace {

constexpr double kReadOnS = 1.0;  // a jump to a keyframe costs more than reading this far
constexpr double kForever = std::numeric_limits<double>::infinity();
constexpr unsigned kVp8Shown = 0x10;

bool showsSomething(const AVPacket& packet, AVCodecID codec) {
  if ((packet.flags & AV_PKT_FLAG_DISCARD) != 0) return false;
  return codec != AV_CODEC_ID_VP8 || packet.size < 1 || (packet.data[0] & kVp8Shown) != 0;
}

}  // namespace

ShownPictures::ShownPictures(VideoContainer& container, const VideoFacts& facts)
    : m_container(container), m_facts(facts), m_packet(makePacket()), m_showTimes(container.type()) {}

OnScreen ShownPictures::at(double timeS) {
  const std::int64_t target = std::max(m_container.ticksAt(timeS), m_container.startTicks());
  if (m_facts.steadyTicks > 0) {
    const std::int64_t start = m_container.startTicks();
    const std::int64_t next = (target - start) / m_facts.steadyTicks + 1;
    const double since = m_container.secondsAt(start + (std::min(next, m_facts.info.frameCount) - 1) * m_facts.steadyTicks);
    return {since, next < m_facts.info.frameCount ? m_container.secondsAt(start + next * m_facts.steadyTicks) : kForever};
  }
  if (worthSeeking(target)) seekTo(target);
  for (;;) {
    if (m_untimed) return {timeS, timeS};
    auto next = m_starts.upper_bound(target);
    // Before the first picture it is the first one that stands there.
    if (next != m_starts.end() && next == m_starts.begin()) ++next;
    const bool known = next != m_starts.end() && m_lastDts != AV_NOPTS_VALUE && m_lastDts >= *next;
    if (known || (m_ended && next != m_starts.end())) {
      m_starts.erase(m_starts.begin(), std::prev(next));
      return {m_container.secondsAt(*m_starts.begin()), m_container.secondsAt(*next)};
    }
    if (m_ended && m_starts.empty()) return {timeS, timeS};
    if (m_ended) return {m_container.secondsAt(*m_starts.rbegin()), kForever};
    readOne();
  }
}

bool ShownPictures::worthSeeking(std::int64_t target) const {
  if (m_lastDts == AV_NOPTS_VALUE) return m_keyframes;
  if (m_ended || !m_keyframes || (!m_starts.empty() && *m_starts.rbegin() > target)) return false;
  AVStream& stream = m_container.stream();
  if (static_cast<double>(target - m_lastDts) * av_q2d(stream.time_base) <= kReadOnS) return false;
  if (m_facts.indexTrust != VideoDecoder::IndexTrust::kTrusted) return true;
  const std::int64_t keyframe = m_container.indexedKeyframe(target);
  return keyframe < 0 || avformat_index_get_entry(&stream, static_cast<int>(keyframe))->timestamp > m_lastDts;
}

void ShownPictures::seekTo(std::int64_t target) {
  SearchWork work;
  m_keyframes = seekKeyframe(m_container, target, *m_packet, work);
  m_starts.clear();
  m_showTimes.restart();
  m_lastDts = AV_NOPTS_VALUE;
  m_firstShowable = std::numeric_limits<std::int64_t>::min();
  if (m_keyframes) {
    m_firstShowable = showTime(*m_packet);
    // The picture that waited for this one is shown now, and this one later.
    if (isPacketStream(m_container.type()) && m_packet->pts == AV_NOPTS_VALUE && m_packet->dts > m_container.startTicks())
      m_starts.insert(m_packet->dts);
    note(*m_packet);
  } else {
    m_container.rewind();
  }
}

void ShownPictures::readOne() {
  if (m_container.readPacket(*m_packet)) {
    note(*m_packet);
  } else {
    m_ended = true;
    add(m_showTimes.last());
  }
}

void ShownPictures::note(const AVPacket& packet) {
  m_untimed = m_untimed || showTime(packet) == AV_NOPTS_VALUE;
  const ShowTimes::Told told = m_showTimes.told(packet);
  add(told.before);
  if (!showsSomething(packet, m_container.stream().codecpar->codec_id)) return;
  if (packet.dts != AV_NOPTS_VALUE) m_lastDts = m_lastDts == AV_NOPTS_VALUE ? packet.dts : std::max(m_lastDts, packet.dts);
  add(told.own);
}

void ShownPictures::add(std::int64_t start) {
  if (start != AV_NOPTS_VALUE && start >= m_firstShowable) m_starts.insert(start);
}

}  // namespace winnow::app
