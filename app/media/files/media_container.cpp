#include "app/media/files/media_container.h"

extern "C" {
#include <libavutil/mem.h>
}

#include <algorithm>

#include "app/media/files/allowed_video.h"

namespace winnow::app {
namespace {

constexpr int kIoBufferBytes = 64 * 1024;
constexpr int kMaxReadErrors = 32;  // in a row; a demuxer that recovers does so within a few

}  // namespace

MediaContainer::MediaContainer(const MediaFile& file, const AllowedReaders& readers, std::int64_t ownBytes, const MediaLimits& limits,
                               const DecodeWatch& watch)
    : m_file(file), m_ownBytes(ownBytes), m_watch(watch) {
  prepareFfmpeg();
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
    restrictOptions(options, readers.demuxer, readers.decoders);
    const int opened = avformat_open_input(&m_format, "", &readers.demuxer, options.get());
    m_watch.check(file.path());
    if (opened < 0) throwNotOpened(opened, limits, file.path());
    const int found = avformat_find_stream_info(m_format, nullptr);
    m_watch.check(file.path());
    if (found < 0) throw Exception(ErrorCode::kDamagedFile, file.path(), "its streams cannot be read (" + ffmpegErrorText(found) + ")");
  } catch (...) {
    close();
    throw;
  }
}

void MediaContainer::close() noexcept {
  avformat_close_input(&m_format);
  if (m_io != nullptr) av_freep(&m_io->buffer);
  avio_context_free(&m_io);
}

bool MediaContainer::readAny(AVPacket& packet) {
  for (int errors = 0; errors < kMaxReadErrors; ++errors) {
    m_watch.check(path());
    av_packet_unref(&packet);
    const int result = av_read_frame(m_format, &packet);
    if (result >= 0) return true;
    m_watch.check(path());
    if (result == AVERROR_EOF) return false;
  }
  return false;
}

int MediaContainer::readCallback(void* self, std::uint8_t* buffer, int bytes) {
  auto* container = static_cast<MediaContainer*>(self);
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

std::int64_t MediaContainer::seekCallback(void* self, std::int64_t offset, int whence) {
  auto* container = static_cast<MediaContainer*>(self);
  std::int64_t base = 0;
  switch (whence & ~AVSEEK_FORCE) {
    case AVSEEK_SIZE: return container->m_ownBytes;
    case SEEK_SET: break;
    case SEEK_CUR: base = container->m_position; break;
    case SEEK_END: base = container->m_ownBytes; break;
    default: return AVERROR(EINVAL);
  }
  std::int64_t target = 0;
  if (__builtin_add_overflow(base, offset, &target) || target < 0) return AVERROR(EINVAL);
  container->m_position = target;
  return target;
}

}  // namespace winnow::app
