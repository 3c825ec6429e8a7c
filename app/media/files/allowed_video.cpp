#include "app/media/files/allowed_video.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace winnow::app {
namespace {

struct AllowedCodec {
  AVCodecID id;
  const char* decoder;
};
// The codecs that phones, cameras, screens, broadcasters and the web write, now and in the last thirty years. Each decoder lives inside
// FFmpeg (AV1's in dav1d), stays within max_pixels, opens nothing, and is one of those that OSS-Fuzz mutates day and night. Left out: what
// few files have and few eyes have read (RealVideo, Indeo, Cinepak, screen recorders with zlib), and what is for editing rooms alone (FFV1,
// DNxHD, CineForm).
constexpr AllowedCodec kAllowedCodecs[] = {
    {AV_CODEC_ID_H264, "h264"},
    {AV_CODEC_ID_HEVC, "hevc"},
    {AV_CODEC_ID_VP8, "vp8"},
    {AV_CODEC_ID_VP9, "vp9"},
    {AV_CODEC_ID_AV1, "libdav1d"},
    {AV_CODEC_ID_MPEG4, "mpeg4"},
    {AV_CODEC_ID_MJPEG, "mjpeg"},
    {AV_CODEC_ID_PRORES, "prores"},
    {AV_CODEC_ID_MPEG1VIDEO, "mpeg1video"},
    {AV_CODEC_ID_MPEG2VIDEO, "mpeg2video"},
    {AV_CODEC_ID_DVVIDEO, "dvvideo"},
    {AV_CODEC_ID_H263, "h263"},
    {AV_CODEC_ID_FLV1, "flv"},
    {AV_CODEC_ID_VP6, "vp6"},
    {AV_CODEC_ID_VP6F, "vp6f"},
    {AV_CODEC_ID_THEORA, "theora"},
    {AV_CODEC_ID_MSMPEG4V2, "msmpeg4v2"},
    {AV_CODEC_ID_MSMPEG4V3, "msmpeg4"},
    {AV_CODEC_ID_WMV1, "wmv1"},
    {AV_CODEC_ID_WMV2, "wmv2"},
    {AV_CODEC_ID_WMV3, "wmv3"},
    {AV_CODEC_ID_VC1, "vc1"},
};

// HLS, DASH, concat and external references in MP4 all end here.
int refuseToOpen(AVFormatContext*, AVIOContext** io, const char*, int, AVDictionary**) {
  *io = nullptr;
  return AVERROR(EPERM);
}

const char* decoderName(AVCodecID id, RawPictures raw) {
  if (id == AV_CODEC_ID_RAWVIDEO && raw == RawPictures::kAllowed) return "rawvideo";
  const auto* allowed =
      std::find_if(std::begin(kAllowedCodecs), std::end(kAllowedCodecs), [&](const AllowedCodec& codec) { return codec.id == id; });
  return allowed == std::end(kAllowedCodecs) ? nullptr : allowed->decoder;
}

void requireVideoSize(const AVCodecParameters& parameters, const MediaLimits& limits, const std::string& subject) {
  if (parameters.width <= 0 || parameters.height <= 0) {
    throw Exception(ErrorCode::kDamagedFile, subject, "the size of its pictures cannot be found");
  }
  if (static_cast<std::int64_t>(parameters.width) * parameters.height > limits.videoFramePixels) {
    throw Exception(ErrorCode::kLimitExceeded, subject,
                    "its frames of " + std::to_string(parameters.width) + " x " + std::to_string(parameters.height) +
                        " pixels are larger than the limit of " + std::to_string(limits.videoFramePixels / 1'000'000) + " megapixels");
  }
}

}  // namespace

std::string videoDecoders() {
  std::string list;
  for (const AllowedCodec& codec : kAllowedCodecs) list += (list.empty() ? "" : ",") + std::string(codec.decoder);
  return list;
}

bool isEncrypted(const AVStream& stream) {
  if (av_stream_get_side_data(&stream, AV_PKT_DATA_ENCRYPTION_INIT_INFO, nullptr) != nullptr) return true;
  const unsigned tag = stream.codecpar->codec_tag;
  return tag == MKTAG('e', 'n', 'c', 'v') || tag == MKTAG('e', 'n', 'c', 'a');
}

const AVInputFormat& videoDemuxer(ContentType type) {
  require(kindOf(type) == MediaKind::kVideo, "a still image has no demuxer");
  const AVInputFormat* demuxer = av_find_input_format(readerOf(type));
  require(demuxer != nullptr, "this build of FFmpeg lacks a demuxer that Winnow needs");
  return *demuxer;
}

void restrictFormat(AVFormatContext& format, const MediaLimits& limits) {
  format.io_open = &refuseToOpen;
  format.probesize = limits.probeBytes;
  format.max_analyze_duration = limits.probeMs * 1000;
  // The demuxer may make a few streams more than the cap, so that the cap can be named in the error.
  format.max_streams = limits.videoStreams + 1;
}

void restrictOptions(AvOptions& options, const AVInputFormat& demuxer, const std::string& decoders) {
  options.set("protocol_whitelist", "");
  options.set("format_whitelist", demuxer.name);
  options.set("codec_whitelist", decoders);
}

void throwNotOpened(int code, const MediaLimits& limits, const std::string& subject) {
  if (code == AVERROR(ENOMEM)) {
    throw Exception(ErrorCode::kLimitExceeded, subject,
                    "its header asks for more than " + std::to_string(limits.videoStreams) + " streams or too much memory");
  }
  throw Exception(ErrorCode::kDamagedFile, subject, "its header is damaged (" + ffmpegErrorText(code) + ")");
}

ChosenVideo chooseVideo(AVFormatContext& format, const MediaLimits& limits, const std::string& subject, RawPictures raw) {
  if (format.nb_streams > static_cast<unsigned>(limits.videoStreams)) {
    throw Exception(ErrorCode::kLimitExceeded, subject, "it has more than " + std::to_string(limits.videoStreams) + " streams");
  }
  ChosenVideo chosen;
  bool coverOnly = false;
  for (unsigned i = 0; i < format.nb_streams; ++i) {
    AVStream* stream = format.streams[i];
    if (stream->codecpar->codec_type != AVMEDIA_TYPE_VIDEO) continue;
    if ((stream->disposition & (AV_DISPOSITION_ATTACHED_PIC | AV_DISPOSITION_TIMED_THUMBNAILS)) != 0) {
      coverOnly = true;
      continue;
    }
    const bool better = chosen.stream == nullptr ||
                        ((stream->disposition & AV_DISPOSITION_DEFAULT) != 0 && (chosen.stream->disposition & AV_DISPOSITION_DEFAULT) == 0);
    if (better) chosen.stream = stream;
  }
  if (chosen.stream == nullptr) {
    throw Exception(ErrorCode::kUnsupportedFormat, subject,
                    coverOnly ? "it contains no video, only sound and a cover picture" : "it contains no video");
  }
  for (unsigned i = 0; i < format.nb_streams; ++i) {
    if (format.streams[i] != chosen.stream) format.streams[i]->discard = AVDISCARD_ALL;
  }
  chosen.decoder = allowedDecoder(*chosen.stream, subject, raw);
  requireVideoSize(*chosen.stream->codecpar, limits, subject);
  return chosen;
}

const AVCodec* allowedDecoder(const AVStream& stream, const std::string& subject, RawPictures raw) {
  const AVCodecParameters& parameters = *stream.codecpar;
  if (isEncrypted(stream)) throw Exception(ErrorCode::kUnsupportedFormat, subject, "the video is encrypted");
  const char* name = decoderName(parameters.codec_id, raw);
  if (name == nullptr) {
    const char* codec = parameters.codec_id == AV_CODEC_ID_NONE ? "unknown" : avcodec_get_name(parameters.codec_id);
    throw Exception(ErrorCode::kUnsupportedFormat, subject,
                    std::string("its video codec (") + codec + ") is not supported; " + kConvertVideo);
  }
  const AVCodec* decoder = avcodec_find_decoder_by_name(name);
  if (decoder == nullptr) {
    throw Exception(ErrorCode::kUnsupportedFormat, subject,
                    std::string("its video codec (") + avcodec_get_name(parameters.codec_id) + ") is not part of this FFmpeg build");
  }
  return decoder;
}

AvDecoder openVideoDecoder(const ChosenVideo& video, const MediaLimits& limits, const std::string& subject, DecoderThreads threads) {
  AvDecoder codec(avcodec_alloc_context3(video.decoder));
  if (!codec) throw Exception(ErrorCode::kOutOfMemory, subject, "there is no memory for a decoder");
  if (avcodec_parameters_to_context(codec.get(), video.stream->codecpar) < 0) {
    throw Exception(ErrorCode::kDamagedFile, subject, "the description of its video stream is damaged");
  }
  codec->pkt_timebase = video.stream->time_base;
  codec->thread_count = threads.count;
  codec->thread_type = threads.type;
  codec->max_pixels = limits.videoFramePixels;
  const int opened = avcodec_open2(codec.get(), video.decoder, nullptr);
  if (opened < 0) {
    throw Exception(ErrorCode::kDamagedFile, subject, "its video stream cannot be decoded (" + ffmpegErrorText(opened) + ")");
  }
  return codec;
}

void requirePlain(const AVPacket& packet, const std::string& subject) {
  if (av_packet_get_side_data(&packet, AV_PKT_DATA_ENCRYPTION_INFO, nullptr) != nullptr) {
    throw Exception(ErrorCode::kUnsupportedFormat, subject, "the video is encrypted");
  }
}

}  // namespace winnow::app
