#include "app/media/files/video_container.h"

#include <algorithm>
#include <cmath>

#include "app/media/files/frame_time.h"

namespace winnow::app {

VideoContainer::VideoContainer(const MediaFile& file, ContentType type, std::int64_t ownBytes, const MediaLimits& limits,
                               const DecodeWatch& watch)
    : MediaContainer(file, {videoDemuxer(type), videoDecoders()}, ownBytes, limits, watch), m_type(type) {
  m_video = chooseVideo(format(), limits, path(), RawPictures::kRefused);
}

std::int64_t VideoContainer::ticksAt(double timeS) const {
  // A microsecond is added so that a time computed from a frame's own start does not fall just before it.
  const double ticks = (timeS + 1e-6) / av_q2d(m_video.stream->time_base);
  return timeOrigin(format(), *m_video.stream) + static_cast<std::int64_t>(std::floor(std::clamp(ticks, 0.0, 1e18)));
}

double VideoContainer::secondsAt(std::int64_t ticks) const {
  return static_cast<double>(ticks - timeOrigin(format(), *m_video.stream)) * av_q2d(m_video.stream->time_base);
}

std::int64_t VideoContainer::indexedKeyframe(std::int64_t ticks) const {
  return av_index_search_timestamp(m_video.stream, ticks, AVSEEK_FLAG_BACKWARD);
}

bool VideoContainer::readPacket(AVPacket& packet) {
  while (readAny(packet)) {
    if (packet.pos >= 0) m_readTo = std::max(m_readTo, packet.pos + packet.size);
    if (packet.stream_index != m_video.stream->index) continue;
    requirePlain(packet, path());
    if (m_stretches) place(packet);
    return true;
  }
  return false;
}

void VideoContainer::place(AVPacket& packet) {
  if (packet.pos >= 0) m_packetAt = packet.pos;
  const std::int64_t shift = m_stretches->shiftAt(m_packetAt);
  if (packet.dts != AV_NOPTS_VALUE) packet.dts += shift;
  if (packet.pts != AV_NOPTS_VALUE) packet.pts += shift;
}

bool VideoContainer::seekToByte(std::int64_t position) {
  m_packetAt = position;
  return av_seek_frame(&format(), -1, position, AVSEEK_FLAG_BYTE) >= 0;
}

bool VideoContainer::seekBackwardTo(std::int64_t timestamp) {
  watch().check(path());
  const std::int64_t keyframe = m_stretches ? m_stretches->keyframeBefore(timestamp) : -1;
  const bool found = m_stretches ? keyframe >= 0 && seekToByte(keyframe)
                                 : avformat_seek_file(&format(), m_video.stream->index, INT64_MIN, timestamp, timestamp, 0) >= 0;
  watch().check(path());
  return found;
}

bool VideoContainer::rewind() {
  watch().check(path());
  // Streams without an index are searched by time, which finds nothing before the first time stamp.
  const bool found = isPacketStream(m_type)
                         ? seekToByte(0)
                         : avformat_seek_file(&format(), m_video.stream->index, INT64_MIN, INT64_MIN / 4, INT64_MAX, 0) >= 0;
  watch().check(path());
  return found;
}

}  // namespace winnow::app
