#include "app/media/files/video_decoder.h"

extern "C" {
#include <libavutil/mathematics.h>
}

#include <algorithm>
#include <utility>

#include "app/media/files/decoding_plan.h"
#include "app/media/files/keyframe_search.h"

namespace winnow::app {
namespace {

// True if FFmpeg's AVDISCARD_NONREF leaves out nothing that another picture leans on. HEVC's mark is about pictures of the same temporal
// layer, so there must be one; MP4 and Matroska say how many (ISO/IEC 14496-15, numTemporalLayers).
bool marksUnused(const AVCodecParameters& codec) {
  constexpr int kLayersAt = 21;
  if (codec.codec_id == AV_CODEC_ID_H264) return true;
  if (codec.codec_id != AV_CODEC_ID_HEVC || codec.extradata_size <= kLayersAt || codec.extradata[0] != 1) return false;
  return ((codec.extradata[kLayersAt] >> 3) & 7) == 1;
}

// True if the decoder itself shows nothing before the first keyframe that it sees. Others show what leans on nothing, in grey.
bool awaitsKeyframes(AVCodecID codec) {
  return codec == AV_CODEC_ID_H264 || codec == AV_CODEC_ID_VP8 || codec == AV_CODEC_ID_VP9 || codec == AV_CODEC_ID_AV1;
}

bool isKeyframe(const AVFrame& frame) {
  return frame.key_frame != 0 || frame.pict_type == AV_PICTURE_TYPE_I || frame.pict_type == AV_PICTURE_TYPE_BI;
}

}  // namespace

DecodeCounters& DecodeCounters::operator+=(const DecodeCounters& more) {
  packetsRead += more.packetsRead;
  packetsDecoded += more.packetsDecoded;
  framesDecoded += more.framesDecoded;
  seeks += more.seeks;
  return *this;
}

VideoDecoder::VideoDecoder(VideoContainer& container, const MediaLimits& limits, const DecodeWatch& watch, IndexTrust trust, int threads)
    : m_container(container),
      m_watch(watch),
      m_trust(trust),
      m_codec(openVideoDecoder(container.video(), limits, container.path(), {threads, FF_THREAD_FRAME | FF_THREAD_SLICE})),
      m_frameTimes(container.type()),
      m_packet(makePacket()),
      m_sparing(!isTimedByOrder(container.type())),
      m_marksUnused(marksUnused(*container.stream().codecpar)),
      m_start(container.startTicks()) {}

VideoDecoder::Shown VideoDecoder::frameAt(double timeS, Following following) {
  const std::int64_t target = std::max(m_start, m_container.ticksAt(timeS));  // before the first picture it stands there as well
  const bool behind = m_shown && target < m_shown->pts;
  m_following = following;
  if (m_passedPts > target) m_passedPts = AV_NOPTS_VALUE;
  if (!m_positioned || behind || worthSeeking(target)) seekTo(target);
  advanceTo(target);
  const auto cameOut = [&] { return m_passedPts == AV_NOPTS_VALUE || (m_shown && m_shown->pts >= m_passedPts); };
  if (m_sparing && !cameOut()) {
    m_sparing = false;
    m_positioned = false;
    seekTo(target);
    advanceTo(target);
  }
  // If a file ends soon after a keyframe, FFmpeg's H.264 keeps what it decoded before that one was shown: one group more is decoded.
  if (m_draining && !cameOut() && m_firstShowablePts > m_start) {
    m_positioned = false;
    seekTo(m_firstShowablePts - 1);
    advanceTo(target);
  }
  if (!m_shown && (!m_ahead || m_ahead->pts > target)) retreatBefore(target);
  if (m_left) m_positioned = false;
  const std::optional<Timed>& best = m_shown ? m_shown : m_ahead;
  if (!best) throw Exception(ErrorCode::kDamagedFile, m_container.path(), "none of its frames can be decoded");
  return {best->frame.get(), std::max(0.0, m_container.secondsAt(best->pts))};
}

bool VideoDecoder::worthSeeking(std::int64_t target) const {
  if (m_ahead && m_ahead->pts > target) return false;
  if (m_ended) return false;
  if (m_lastFedTicks == AV_NOPTS_VALUE) return true;
  AVStream& stream = m_container.stream();
  const double distanceS = static_cast<double>(target - m_lastFedTicks) * av_q2d(stream.time_base);
  if (distanceS <= kAlwaysDecodeOnS) return false;
  if (m_trust == IndexTrust::kTrusted) {
    const int entry = av_index_search_timestamp(&stream, target, AVSEEK_FLAG_BACKWARD);
    if (entry >= 0 && avformat_index_get_entry(&stream, entry)->timestamp > m_lastFedTicks) return true;
    // An index that reaches past the target and shows no keyframe between here and there is believed.
    const int count = avformat_index_get_entries_count(&stream);
    if (entry >= 0 && count > 0 && avformat_index_get_entry(&stream, count - 1)->timestamp >= target) return false;
  }
  return true;
}

void VideoDecoder::seekTo(std::int64_t target) {
  const bool resumable = m_positioned && !m_draining && (!m_shown || target >= m_shown->pts);
  m_packetPending = false;
  m_skip = 0;
  SearchWork work;
  const bool found = seekKeyframe(m_container, target, *m_packet, work);
  m_counters.seeks += work.seeks;
  m_counters.packetsRead += work.packetsRead;
  if (!found) {
    // Nothing is marked as a keyframe (periodic refresh, a damaged index): decode from the start and let the decoder find its way.
    m_container.rewind();
    restart();
    m_firstShowablePts = AV_NOPTS_VALUE;
    return;
  }
  if (const std::int64_t fed = resumable ? fedFrom(*m_packet) : 0; fed > 0) {
    m_skip = fed - 1;  // this one as well: the decoder goes on where it was
    return;
  }
  const std::int64_t shows = showTime(*m_packet);
  m_keyframeMayBeLate = m_packet->pts == AV_NOPTS_VALUE;
  restart();
  m_packetPending = true;
  m_firstShowablePts = shows;
  m_awaitsKeyframe = target > m_start && !awaitsKeyframes(m_codec->codec_id);
}

void VideoDecoder::restart() {
  avcodec_flush_buffers(m_codec.get());
  m_shown.reset();
  m_ahead.reset();
  m_positioned = true;
  m_draining = false;
  m_ended = false;
  m_left = false;
  m_passedPts = AV_NOPTS_VALUE;
  m_lastFedTicks = AV_NOPTS_VALUE;
  m_fed = 0;
  m_fedKeyframes.clear();
  m_skip = 0;
  m_lastPts = AV_NOPTS_VALUE;
  m_awaitsKeyframe = false;
  m_frameTimes.restart();
}

void VideoDecoder::advanceTo(std::int64_t target) {
  m_target = target;
  for (;;) {
    if (m_ahead) {
      if (m_ahead->pts > target) return;
      m_shown = std::move(m_ahead);
      m_ahead.reset();
    }
    if (m_ended) return;
    m_ahead = nextFrame();
  }
}

void VideoDecoder::retreatBefore(std::int64_t target) {
  // At the start of the video the first frame stands for the time before it.
  if (m_ahead && m_firstShowablePts != AV_NOPTS_VALUE && m_ahead->pts <= m_start) return;
  m_sparing = false;
  std::optional<Timed> later = std::exchange(m_ahead, std::nullopt);
  std::int64_t before = m_firstShowablePts != AV_NOPTS_VALUE ? m_firstShowablePts : target;
  const double tickS = av_q2d(m_container.stream().time_base);
  const bool mayBeLate = m_keyframeMayBeLate;
  double backS = 0.0;
  while (before > m_start) {
    before = std::max(m_start, std::min(before - 1, target - static_cast<std::int64_t>(backS / tickS)));
    m_positioned = false;
    seekTo(before);
    advanceTo(target);
    if (m_shown) break;
    if (!later && m_ahead) later = std::exchange(m_ahead, std::nullopt);
    backS = backS == 0.0 ? kFirstStepBackS : backS * kStepBackGrowth;
  }
  if (!m_shown && !m_ahead) m_ahead = std::exchange(later, std::nullopt);
  // If the very first keyframe comes out, the video simply begins later than its header says.
  const bool beginsLate = !m_shown && m_ahead && m_ahead->pts <= m_firstShowablePts;
  // If packets do not say when they are shown, a keyframe may come out later than was thought; if pictures are refreshed bit by bit,
  // nothing comes out at first. The one that is there was found all the same.
  const bool wasThere = m_shown && (mayBeLate || (m_passedPts != AV_NOPTS_VALUE && m_shown->pts >= m_passedPts));
  if (!beginsLate && !wasThere) add_notice(m_notices, {NoticeCode::kNearestShown});
}

std::optional<VideoDecoder::Timed> VideoDecoder::nextFrame() {
  for (;;) {
    m_watch.check(m_container.path());
    AvFrame frame = makeFrame();
    const int result = avcodec_receive_frame(m_codec.get(), frame.get());
    if (result == AVERROR_EOF) {
      m_ended = true;
      return std::nullopt;
    }
    if (result < 0) {
      if (result != AVERROR(EAGAIN)) add_notice(m_notices, {NoticeCode::kDamaged});
      if (m_draining && result != AVERROR(EAGAIN)) continue;  // a damaged last frame; the end follows
      feed();
      continue;
    }
    ++m_counters.framesDecoded;
    if ((frame->flags & AV_FRAME_FLAG_CORRUPT) != 0) {
      add_notice(m_notices, {NoticeCode::kDamaged});
      continue;
    }
    if (frame->decode_error_flags != 0) add_notice(m_notices, {NoticeCode::kDamaged});
    std::int64_t pts = m_frameTimes.of(*frame, *m_codec);
    if (pts == AV_NOPTS_VALUE) pts = m_lastPts == AV_NOPTS_VALUE ? m_start : m_lastPts + std::max<std::int64_t>(1, frame->pkt_duration);
    if (leansOnUndecoded(*frame, pts)) continue;
    if (m_lastPts != AV_NOPTS_VALUE) pts = std::max(pts, m_lastPts);  // stamps that jump back do not turn time round
    m_lastPts = pts;
    return Timed{std::move(frame), pts};
  }
}

bool VideoDecoder::leansOnUndecoded(const AVFrame& frame, std::int64_t pts) {
  if (m_awaitsKeyframe && !isKeyframe(frame)) return true;
  if (std::exchange(m_awaitsKeyframe, false)) m_firstShowablePts = std::max(m_firstShowablePts, pts);
  // Frames shown before the keyframe that decoding began with lean on the group before it.
  return m_firstShowablePts != AV_NOPTS_VALUE && pts < m_firstShowablePts && m_lastPts == AV_NOPTS_VALUE;
}

void VideoDecoder::feed() {
  while (!m_draining) {
    if (!m_packetPending) {
      if (!m_container.readPacket(*m_packet)) {
        drain();
        return;
      }
      ++m_counters.packetsRead;
    }
    m_packetPending = false;
    if (m_skip > 0) {
      --m_skip;
      continue;
    }
    if (mayLeaveBefore(*m_packet)) {
      m_left = true;
      drain();
      return;
    }
    const AVDiscard before = m_codec->skip_frame;
    m_codec->skip_frame = isPassed(*m_packet) ? AVDISCARD_NONREF : AVDISCARD_DEFAULT;
    const int result = avcodec_send_packet(m_codec.get(), m_packet.get());
    if (result == AVERROR(EAGAIN)) {
      m_packetPending = true;  // frames wait inside; they are taken first
      m_codec->skip_frame = before;
      return;
    }
    noteFed(*m_packet);
    if (result < 0) add_notice(m_notices, {NoticeCode::kDamaged});
    return;
  }
}

void VideoDecoder::noteFed(const AVPacket& packet) {
  ++m_counters.packetsDecoded;
  m_frameTimes.fed(packet);
  const bool key = (packet.flags & AV_PKT_FLAG_KEY) != 0;
  if (key && showTime(packet) != AV_NOPTS_VALUE) m_fedKeyframes.push_back({packet.pos, showTime(packet), m_fed});
  ++m_fed;
  if ((packet.flags & AV_PKT_FLAG_DISCARD) == 0 && packet.pts <= m_target) m_passedPts = std::max(m_passedPts, packet.pts);
  if (decodeTime(packet) != AV_NOPTS_VALUE) m_lastFedTicks = std::max(m_lastFedTicks, decodeTime(packet));
}

std::int64_t VideoDecoder::fedFrom(const AVPacket& keyframe) const {
  const auto known = [&](const FedKeyframe& fed) { return fed.position == keyframe.pos && fed.shows == showTime(keyframe); };
  const auto found = std::find_if(m_fedKeyframes.rbegin(), m_fedKeyframes.rend(), known);
  return found == m_fedKeyframes.rend() ? 0 : m_fed - found->before;
}

bool VideoDecoder::isPassed(const AVPacket& packet) const {
  return m_sparing && m_marksUnused && packet.pts != AV_NOPTS_VALUE && packet.pts < m_passedPts;
}

bool VideoDecoder::mayLeaveBefore(const AVPacket& packet) const {
  // Nothing is shown before it is decoded. A stream of packets may say when only by what follows.
  return m_sparing && m_trust == IndexTrust::kTrusted && m_following == Following::kElsewhere && packet.pts != AV_NOPTS_VALUE &&
         packet.dts != AV_NOPTS_VALUE && packet.dts > m_target;
}

void VideoDecoder::drain() {
  m_draining = true;
  avcodec_send_packet(m_codec.get(), nullptr);
}

}  // namespace winnow::app
