#include "app/media/files/video_container.h"

extern "C" {
#include <libavutil/mem.h>
}

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "app/media/files/frame_time.h"

namespace winnow::app {
namespace {

constexpr int kIoBufferBytes = 64 * 1024;
constexpr int kMaxReadErrors = 32;  // in a row; a demuxer that recovers does so within a few

}  // namespace

VideoContainer::VideoContainer(const MediaFile& file, ContentType type, std::int64_t ownBytes, const MediaLimits& limits,
                               const DecodeWatch& watch)
    : m_file(file), m_type(type), m_ownBytes(ownBytes), m_limits(limits), m_watch(watch) {
  prepareFfmpeg();
  const AVInputFormat& demuxer = videoDemuxer(type);
  auto* buffer = static_cast<std::uint8_t*>(av_malloc(kIoBufferBytes));
  if (buffer != nullptr) m_io = avio_alloc_context(buffer, kIoBufferBytes, 0, this, &readCallback, nullptr, &seekCallback);
  if (m_io == nullptr) {
    av_free(buffer);
    throw Exception(ErrorCode::kOutOfMemory, file.path(), "there is no memory to open the file");
  }
  m_format = avformat_alloc_context();
  try {
    if (m_format == nullptr) throw Exception(ErrorCode::kOutOfMemory, file.path(), "there is no memory to open the file");
    m_format->pb = m_io;
    m_format->flags |= AVFMT_FLAG_CUSTOM_IO;
    m_format->interrupt_callback = {&DecodeWatch::callback, const_cast<DecodeWatch*>(&watch)};
    restrictFormat(*m_format, limits);
    AvOptions options;
    restrictOptions(options, demuxer);
    const int opened = avformat_open_input(&m_format, "", &demuxer, options.get());
    m_watch.check(file.path());
    if (opened < 0) throwNotOpened(opened, limits, file.path());
    const int found = avformat_find_stream_info(m_format, nullptr);
    m_watch.check(file.path());
    if (found < 0) throw Exception(ErrorCode::kDamagedFile, file.path(), "its streams cannot be read (" + ffmpegErrorText(found) + ")");
    m_video = chooseVideo(*m_format, limits, file.path(), RawPictures::kRefused);
  } catch (...) {
    close();
    throw;
  }
}

VideoContainer::~VideoContainer() { close(); }

void VideoContainer::close() noexcept {
  avformat_close_input(&m_format);
  if (m_io != nullptr) av_freep(&m_io->buffer);
  avio_context_free(&m_io);
}

std::int64_t VideoContainer::ticksAt(double timeS) const {
  // A microsecond is added so that a time computed from a frame's own start does not fall just before it.
  const double ticks = (timeS + 1e-6) / av_q2d(m_video.stream->time_base);
  return timeOrigin(*m_format, *m_video.stream) + static_cast<std::int64_t>(std::floor(std::clamp(ticks, 0.0, 1e18)));
}

double VideoContainer::secondsAt(std::int64_t ticks) const {
  return static_cast<double>(ticks - timeOrigin(*m_format, *m_video.stream)) * av_q2d(m_video.stream->time_base);
}

std::int64_t VideoContainer::indexedKeyframe(std::int64_t ticks) const {
  return av_index_search_timestamp(m_video.stream, ticks, AVSEEK_FLAG_BACKWARD);
}

bool VideoContainer::readPacket(AVPacket& packet) {
  for (int errors = 0; errors < kMaxReadErrors;) {
    m_watch.check(path());
    av_packet_unref(&packet);
    const int result = av_read_frame(m_format, &packet);
    if (result >= 0) {
      if (packet.pos >= 0) m_readTo = std::max(m_readTo, packet.pos + packet.size);
      if (packet.stream_index != m_video.stream->index) continue;
      requirePlain(packet, path());
      if (m_stretches) place(packet);
      return true;
    }
    m_watch.check(path());
    if (result == AVERROR_EOF) return false;
    ++errors;
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
  return av_seek_frame(m_format, -1, position, AVSEEK_FLAG_BYTE) >= 0;
}

bool VideoContainer::seekBackwardTo(std::int64_t timestamp) {
  m_watch.check(path());
  const std::int64_t keyframe = m_stretches ? m_stretches->keyframeBefore(timestamp) : -1;
  const bool found = m_stretches ? keyframe >= 0 && seekToByte(keyframe)
                                 : avformat_seek_file(m_format, m_video.stream->index, INT64_MIN, timestamp, timestamp, 0) >= 0;
  m_watch.check(path());
  return found;
}

bool VideoContainer::rewind() {
  m_watch.check(path());
  // Streams without an index are searched by time, which finds nothing before the first time stamp.
  const bool found = isPacketStream(m_type)
                         ? seekToByte(0)
                         : avformat_seek_file(m_format, m_video.stream->index, INT64_MIN, INT64_MIN / 4, INT64_MAX, 0) >= 0;
  m_watch.check(path());
  return found;
}

int VideoContainer::readCallback(void* self, std::uint8_t* buffer, int bytes) {
  auto* container = static_cast<VideoContainer*>(self);
  if (container->m_watch.shouldStop()) return AVERROR_EXIT;
  if (bytes <= 0) return AVERROR(EINVAL);
  const std::int64_t wanted = std::min<std::int64_t>(bytes, container->m_ownBytes - container->m_position);
  if (wanted <= 0) return AVERROR_EOF;
  const std::int64_t got = container->m_file.tryReadAt(container->m_position, {buffer, static_cast<std::size_t>(wanted)});
  if (got < 0) return AVERROR(static_cast<int>(-got));
  if (got == 0) return AVERROR_EOF;
  container->m_position += got;
  return static_cast<int>(got);
}

std::int64_t VideoContainer::seekCallback(void* self, std::int64_t offset, int whence) {
  auto* container = static_cast<VideoContainer*>(self);
  std::int64_t base = 0;
  switch (whence & ~AVSEEK_FORCE) {
    case AVSEEK_SIZE:
      return container->m_ownBytes;
    case SEEK_SET:
      break;
    case SEEK_CUR:
      base = container->m_position;
      break;
    case SEEK_END:
      base = container->m_ownBytes;
      break;
    default:
      return AVERROR(EINVAL);
  }
  std::int64_t target = 0;
  if (__builtin_add_overflow(base, offset, &target) || target < 0) return AVERROR(EINVAL);
  container->m_position = target;
  return target;
}

}  // namespace winnow::app
