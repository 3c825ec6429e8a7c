#include "app/media/video_container.h"

extern "C" {
#include <libavutil/mem.h>
#include <libavutil/opt.h>
}

#include <algorithm>
#include <cstdio>
#include <string>

namespace winnow::app {
namespace {

constexpr int kIoBufferBytes = 64 * 1024;
constexpr int kMaxReadErrors = 32;  // in a row; a demuxer that recovers does so within a few

struct AllowedCodec {
  AVCodecID id;
  const char* decoder;
};
constexpr AllowedCodec kAllowedCodecs[] = {
    {AV_CODEC_ID_H264, "h264"},    {AV_CODEC_ID_HEVC, "hevc"},   {AV_CODEC_ID_VP8, "vp8"},     {AV_CODEC_ID_VP9, "vp9"},
    {AV_CODEC_ID_AV1, "libdav1d"}, {AV_CODEC_ID_MPEG4, "mpeg4"}, {AV_CODEC_ID_MJPEG, "mjpeg"}, {AV_CODEC_ID_PRORES, "prores"},
};
constexpr const char* kCodecWhitelist = "h264,hevc,vp8,vp9,libdav1d,mpeg4,mjpeg,prores";

const char* demuxerOf(ContentType type) {
  switch (type) {
    case ContentType::kMov:
      return "mov,mp4,m4a,3gp,3g2,mj2";
    case ContentType::kMatroska:
      return "matroska,webm";
    case ContentType::kAvi:
      return "avi";
    case ContentType::kMpegTs:
      return "mpegts";
    default:
      throw Exception(ErrorCode::kInternal, "", "a still image has no demuxer");
  }
}

const AVInputFormat* findDemuxer(ContentType type) {
  // av_find_input_format matches one name of a list.
  const std::string names = demuxerOf(type);
  return av_find_input_format(names.substr(0, names.find(',')).c_str());
}

// HLS, DASH, concat and external references in MP4 all end here.
int refuseToOpen(AVFormatContext*, AVIOContext** io, const char*, int, AVDictionary**) {
  *io = nullptr;
  return AVERROR(EPERM);
}

bool isEncrypted(const AVStream& stream) {
  if (av_stream_get_side_data(&stream, AV_PKT_DATA_ENCRYPTION_INIT_INFO, nullptr) != nullptr) return true;
  return stream.codecpar->codec_tag == MKTAG('e', 'n', 'c', 'v');
}

}  // namespace

VideoContainer::VideoContainer(const MediaFile& file, ContentType type, const MediaLimits& limits, const DecodeWatch& watch)
    : m_file(file), m_type(type), m_limits(limits), m_watch(watch) {
  prepareFfmpeg();
  const AVInputFormat* demuxer = findDemuxer(type);
  require(demuxer != nullptr, "this build of FFmpeg lacks a demuxer that Winnow needs");
  auto* buffer = static_cast<std::uint8_t*>(av_malloc(kIoBufferBytes));
  if (buffer != nullptr) m_io = avio_alloc_context(buffer, kIoBufferBytes, 0, this, &readCallback, nullptr, &seekCallback);
  if (m_io == nullptr) {
    av_free(buffer);
    throw Exception(ErrorCode::kOutOfMemory, file.path(), "there is no memory to open the file");
  }
  m_format = avformat_alloc_context();
  AVDictionary* options = nullptr;
  try {
    if (m_format == nullptr) throw Exception(ErrorCode::kOutOfMemory, file.path(), "there is no memory to open the file");
    m_format->pb = m_io;
    m_format->flags |= AVFMT_FLAG_CUSTOM_IO;
    m_format->interrupt_callback = {&DecodeWatch::callback, const_cast<DecodeWatch*>(&watch)};
    m_format->io_open = &refuseToOpen;
    m_format->probesize = limits.probeBytes;
    m_format->max_analyze_duration = limits.probeMs * 1000;
    // The demuxer may make a few streams more than the cap, so that the cap can be named in the error.
    m_format->max_streams = limits.videoStreams + 1;
    av_dict_set(&options, "protocol_whitelist", "", 0);
    av_dict_set(&options, "format_whitelist", demuxerOf(type), 0);
    av_dict_set(&options, "codec_whitelist", kCodecWhitelist, 0);
    const int opened = avformat_open_input(&m_format, "", demuxer, &options);
    m_watch.check(file.path());
    if (opened == AVERROR(ENOMEM)) {
      throw Exception(ErrorCode::kLimitExceeded, file.path(),
                      "its header asks for more than " + std::to_string(limits.videoStreams) + " streams or too much memory");
    }
    if (opened < 0) throw Exception(ErrorCode::kDamagedFile, file.path(), "its header is damaged (" + ffmpegErrorText(opened) + ")");
    const int found = avformat_find_stream_info(m_format, nullptr);
    m_watch.check(file.path());
    if (found < 0) throw Exception(ErrorCode::kDamagedFile, file.path(), "its streams cannot be read (" + ffmpegErrorText(found) + ")");
    chooseStream();
  } catch (...) {
    av_dict_free(&options);
    close();
    throw;
  }
  av_dict_free(&options);
}

VideoContainer::~VideoContainer() { close(); }

void VideoContainer::close() noexcept {
  avformat_close_input(&m_format);
  if (m_io != nullptr) av_freep(&m_io->buffer);
  avio_context_free(&m_io);
}

void VideoContainer::chooseStream() {
  if (m_format->nb_streams > static_cast<unsigned>(m_limits.videoStreams)) {
    throw Exception(ErrorCode::kLimitExceeded, path(), "it has more than " + std::to_string(m_limits.videoStreams) + " streams");
  }
  // The stream marked as default, else the first; a cover picture is no video.
  bool coverOnly = false;
  for (unsigned i = 0; i < m_format->nb_streams; ++i) {
    AVStream* stream = m_format->streams[i];
    if (stream->codecpar->codec_type != AVMEDIA_TYPE_VIDEO) continue;
    if ((stream->disposition & (AV_DISPOSITION_ATTACHED_PIC | AV_DISPOSITION_TIMED_THUMBNAILS)) != 0) {
      coverOnly = true;
      continue;
    }
    const bool better = m_stream == nullptr ||
                        ((stream->disposition & AV_DISPOSITION_DEFAULT) != 0 && (m_stream->disposition & AV_DISPOSITION_DEFAULT) == 0);
    if (better) m_stream = stream;
  }
  if (m_stream == nullptr) {
    throw Exception(ErrorCode::kUnsupportedFormat, path(),
                    coverOnly ? "it contains no video, only sound and a cover picture" : "it contains no video");
  }
  for (unsigned i = 0; i < m_format->nb_streams; ++i) {
    if (m_format->streams[i] != m_stream) m_format->streams[i]->discard = AVDISCARD_ALL;
  }
  const AVCodecParameters& parameters = *m_stream->codecpar;
  if (isEncrypted(*m_stream)) throw Exception(ErrorCode::kUnsupportedFormat, path(), "the video is encrypted");
  const auto* allowed = std::find_if(std::begin(kAllowedCodecs), std::end(kAllowedCodecs),
                                     [&](const AllowedCodec& codec) { return codec.id == parameters.codec_id; });
  if (allowed == std::end(kAllowedCodecs)) {
    const char* name = parameters.codec_id == AV_CODEC_ID_NONE ? "unknown" : avcodec_get_name(parameters.codec_id);
    throw Exception(ErrorCode::kUnsupportedFormat, path(), std::string("its video codec (") + name + ") is not supported");
  }
  m_decoder = avcodec_find_decoder_by_name(allowed->decoder);
  if (m_decoder == nullptr) {
    throw Exception(ErrorCode::kUnsupportedFormat, path(),
                    std::string("its video codec (") + avcodec_get_name(parameters.codec_id) + ") is not part of this FFmpeg build");
  }
  if (parameters.width <= 0 || parameters.height <= 0) {
    throw Exception(ErrorCode::kDamagedFile, path(), "the size of its pictures cannot be found");
  }
  if (static_cast<std::int64_t>(parameters.width) * parameters.height > m_limits.videoFramePixels) {
    throw Exception(ErrorCode::kLimitExceeded, path(),
                    "its frames of " + std::to_string(parameters.width) + " x " + std::to_string(parameters.height) +
                        " pixels are larger than the limit of " + std::to_string(m_limits.videoFramePixels / 1'000'000) + " megapixels");
  }
}

bool VideoContainer::readPacket(AVPacket& packet) {
  for (int errors = 0; errors < kMaxReadErrors;) {
    m_watch.check(path());
    av_packet_unref(&packet);
    const int result = av_read_frame(m_format, &packet);
    if (result >= 0) {
      if (packet.stream_index != m_stream->index) continue;
      if (av_packet_get_side_data(&packet, AV_PKT_DATA_ENCRYPTION_INFO, nullptr) != nullptr) {
        throw Exception(ErrorCode::kUnsupportedFormat, path(), "the video is encrypted");
      }
      return true;
    }
    m_watch.check(path());
    if (result == AVERROR_EOF) return false;
    ++errors;
  }
  return false;
}

bool VideoContainer::seekBackwardTo(std::int64_t timestamp) {
  m_watch.check(path());
  const int result = avformat_seek_file(m_format, m_stream->index, INT64_MIN, timestamp, timestamp, 0);
  m_watch.check(path());
  return result >= 0;
}

bool VideoContainer::rewind() {
  m_watch.check(path());
  // Transport streams are searched by time, which finds nothing before the first time stamp.
  const int result = m_type == ContentType::kMpegTs ? av_seek_frame(m_format, -1, 0, AVSEEK_FLAG_BYTE)
                                                    : avformat_seek_file(m_format, m_stream->index, INT64_MIN, INT64_MIN / 4, INT64_MAX, 0);
  m_watch.check(path());
  return result >= 0;
}

int VideoContainer::readCallback(void* self, std::uint8_t* buffer, int bytes) {
  auto* container = static_cast<VideoContainer*>(self);
  if (container->m_watch.shouldStop()) return AVERROR_EXIT;
  if (bytes <= 0) return AVERROR(EINVAL);
  const std::int64_t got = container->m_file.tryReadAt(container->m_position, {buffer, static_cast<std::size_t>(bytes)});
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
      return container->m_file.sizeBytes();
    case SEEK_SET:
      break;
    case SEEK_CUR:
      base = container->m_position;
      break;
    case SEEK_END:
      base = container->m_file.sizeBytes();
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
