#include "app/media/files/sound_file.h"

extern "C" {
#include <libavutil/channel_layout.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>
}

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <string_view>

#include "app/media/files/allowed_video.h"
#include "app/media/files/container_extent.h"
#include "app/media/files/content_hash.h"
#include "app/media/files/content_type.h"
#include "app/media/files/frame_time.h"

namespace winnow::app {
namespace {

constexpr double kGapS = 0.1;  // smaller ones are the rounding of stamps
constexpr std::int64_t kSoundHeadBytes = 64;
constexpr int kMostDamaged = 1'000;  // packets in a row that cannot be decoded

struct SoundCodec {
  AVCodecID id;
  const char* decoder;
};
// The codecs that phones, cameras, recorders, broadcasters and the web write; each decoder is FFmpeg's own.
constexpr SoundCodec kSoundCodecs[] = {
    {AV_CODEC_ID_AAC, "aac"},
    {AV_CODEC_ID_MP3, "mp3float"},
    {AV_CODEC_ID_OPUS, "opus"},
    {AV_CODEC_ID_VORBIS, "vorbis"},
    {AV_CODEC_ID_FLAC, "flac"},
    {AV_CODEC_ID_ALAC, "alac"},
    {AV_CODEC_ID_AC3, "ac3"},
    {AV_CODEC_ID_EAC3, "eac3"},
    {AV_CODEC_ID_MP2, "mp2float"},
    {AV_CODEC_ID_WMAV1, "wmav1"},
    {AV_CODEC_ID_WMAV2, "wmav2"},
    {AV_CODEC_ID_WMAPRO, "wmapro"},
    {AV_CODEC_ID_AMR_NB, "amrnb"},
    {AV_CODEC_ID_AMR_WB, "amrwb"},
    {AV_CODEC_ID_PCM_U8, "pcm_u8"},
    {AV_CODEC_ID_PCM_S16LE, "pcm_s16le"},
    {AV_CODEC_ID_PCM_S16BE, "pcm_s16be"},
    {AV_CODEC_ID_PCM_S24LE, "pcm_s24le"},
    {AV_CODEC_ID_PCM_S32LE, "pcm_s32le"},
    {AV_CODEC_ID_PCM_F32LE, "pcm_f32le"},
    {AV_CODEC_ID_PCM_MULAW, "pcm_mulaw"},
    {AV_CODEC_ID_PCM_ALAW, "pcm_alaw"},
    {AV_CODEC_ID_ADPCM_MS, "adpcm_ms"},
    {AV_CODEC_ID_ADPCM_IMA_WAV, "adpcm_ima_wav"},
};

std::string soundDecoders() {
  std::string list;
  for (const SoundCodec& codec : kSoundCodecs) list += (list.empty() ? "" : ",") + std::string(codec.decoder);
  return list;
}

// FFmpeg's demuxer of a file of sound alone; null: it is none.
const char* soundDemuxer(const MediaFile& file) {
  const std::vector<std::uint8_t> bytes = file.readRange(0, kSoundHeadBytes);
  const std::string_view head = charactersOf(bytes);
  if (head.starts_with("RIFF") && head.substr(std::min<std::size_t>(head.size(), 8), 4) == "WAVE") return "wav";
  if (head.starts_with("fLaC")) return "flac";
  if (head.starts_with("ID3")) return "mp3";
  if (bytes.size() < 4 || bytes[0] != 0xFF) return nullptr;
  if ((bytes[1] & 0xF6) == 0xF0) return "aac";                                                             // ADTS: layer 0
  const bool frame = (bytes[1] & 0xE0) == 0xE0 && (bytes[1] & 0x18) != 0x08 && (bytes[1] & 0x06) == 0x02;  // layer III
  return frame && (bytes[2] & 0xF0) != 0xF0 && (bytes[2] & 0x0C) != 0x0C ? "mp3" : nullptr;
}

const AVInputFormat& demuxerOf(const MediaFile& file) {
  const char* const name = soundDemuxer(file);
  if (name == nullptr) {
    const ContentType type = detectContent(file);
    if (kindOf(type) != MediaKind::kVideo)
      throw Exception(ErrorCode::kUnsupportedFormat, file.path(), "this is a picture, it has no sound");
    return videoDemuxer(type);
  }
  const AVInputFormat* const demuxer = av_find_input_format(name);
  require(demuxer != nullptr, "this build of FFmpeg lacks a demuxer that Winnow needs");
  return *demuxer;
}

bool isLikely(const AVStream& stream) { return stream.codecpar->codec_type == AVMEDIA_TYPE_AUDIO && stream.codecpar->sample_rate > 0; }

}  // namespace

bool isSoundAlone(const MediaFile& file) { return soundDemuxer(file) != nullptr; }

bool holdsSound(const AVFormatContext& format) {
  return std::ranges::any_of(std::span<AVStream* const>(format.streams, format.nb_streams), [](const AVStream* stream) {
    const AVCodecParameters& track = *stream->codecpar;
    return track.codec_type == AVMEDIA_TYPE_AUDIO &&
           std::ranges::find(kSoundCodecs, track.codec_id, &SoundCodec::id) != std::end(kSoundCodecs);
  });
}

// The opened file, of which only the chosen track is delivered.
class SoundFile::Track : public MediaContainer {
 public:
  Track(const MediaFile& file, const MediaLimits& limits, const DecodeWatch& watch)
      : MediaContainer(file, {demuxerOf(file), soundDecoders() + "," + videoDecoders()},
                       isSoundAlone(file) ? file.sizeBytes() : measureExtent(file, detectContent(file)).ownBytes, limits, watch) {
    const std::span<AVStream* const> streams(format().streams, format().nb_streams);
    for (AVStream* const each : streams) {
      const bool better =
          stream == nullptr || ((each->disposition & AV_DISPOSITION_DEFAULT) != 0 && (stream->disposition & AV_DISPOSITION_DEFAULT) == 0);
      if (isLikely(*each) && better) stream = each;
    }
    if (stream == nullptr) throw Exception(ErrorCode::kUnsupportedFormat, path(), "it has no sound");
    if (isEncrypted(*stream)) throw Exception(ErrorCode::kUnsupportedFormat, path(), "its sound is encrypted");
    const AVStream* timed = stream;
    for (AVStream* const each : streams) {
      const bool picture = each->codecpar->codec_type == AVMEDIA_TYPE_VIDEO && (each->disposition & AV_DISPOSITION_ATTACHED_PIC) == 0;
      if (picture && timed == stream) timed = each;
      if (each != stream) each->discard = AVDISCARD_ALL;
    }
    originS = static_cast<double>(timeOrigin(format(), *timed)) * av_q2d(timed->time_base);
    if (format().duration > 0) durationS = static_cast<double>(format().duration) / AV_TIME_BASE;
  }

  bool readPacket(AVPacket& packet) {
    while (readAny(packet)) {
      if (packet.stream_index != stream->index) continue;
      requirePlain(packet, path());
      return true;
    }
    return false;
  }

  AVStream* stream = nullptr;
  double originS = 0.0;  // of the file's beginning, on the stream's clock
  double durationS = 0.0;
};

void SoundFile::FreeResampler::operator()(SwrContext* context) const { swr_free(&context); }

SoundFile::SoundFile(std::unique_ptr<MediaFile> file, const MediaLimits& limits, const InterruptToken& interrupt)
    : m_file(std::move(file)), m_limits(limits) {
  m_watch.arm(interrupt, limits.decodeBudgetMs);
  open();
}

SoundFile::~SoundFile() = default;

std::string SoundFile::content_hash() const { return contentHash(*m_file); }

void SoundFile::open() {
  m_decoder.reset();
  m_track = std::make_unique<Track>(*m_file, m_limits, m_watch);
  const AVCodecParameters& parameters = *m_track->stream->codecpar;
  const auto* const codec = std::ranges::find(kSoundCodecs, parameters.codec_id, &SoundCodec::id);
  const AVCodec* const decoder = codec == std::end(kSoundCodecs) ? nullptr : avcodec_find_decoder_by_name(codec->decoder);
  if (decoder == nullptr) {
    throw Exception(ErrorCode::kUnsupportedFormat, m_file->path(),
                    std::string("its sound (") + avcodec_get_name(parameters.codec_id) +
                        ") is not supported; this converts it: ffmpeg -i FILE NEW.flac");
  }
  m_decoder.reset(avcodec_alloc_context3(decoder));
  if (!m_decoder) throw Exception(ErrorCode::kOutOfMemory, m_file->path(), "there is no memory for a decoder");
  m_decoder->pkt_timebase = m_track->stream->time_base;
  m_decoder->thread_count = 1;
  if (avcodec_parameters_to_context(m_decoder.get(), &parameters) < 0 || avcodec_open2(m_decoder.get(), decoder, nullptr) < 0)
    throw Exception(ErrorCode::kDamagedFile, m_file->path(), "its sound cannot be decoded");
  m_clock.emplace(1024.0 / parameters.sample_rate);
  m_clock->beginAt(m_track->originS);
  m_durationS = m_track->durationS;
  m_resampler.reset();
  m_last.reset();
  m_ready.clear();
  m_made = 0;
  m_ended = false;
}

void SoundFile::rewind() {
  m_watch.arm({}, m_limits.decodeBudgetMs);
  open();
}

std::vector<float> SoundFile::read(std::int64_t count, const InterruptToken& interrupt) {
  m_watch.arm(interrupt, m_limits.decodeBudgetMs);
  while (std::ssize(m_ready) < count && decodeMore()) m_watch.check(m_file->path());
  const auto end = m_ready.begin() + std::min<std::int64_t>(count, std::ssize(m_ready));
  std::vector<float> samples(m_ready.begin(), end);
  m_ready.erase(m_ready.begin(), end);
  return samples;
}

bool SoundFile::decodeMore() {
  if (m_ended) return false;
  const AvPacket packet = makePacket();
  const AvFrame frame = makeFrame();
  for (int damaged = 0; damaged < kMostDamaged;) {
    m_watch.check(m_file->path());
    const int received = avcodec_receive_frame(m_decoder.get(), frame.get());
    if (received >= 0) {
      take(*frame);
      return true;
    }
    if (received == AVERROR_EOF) break;
    if (received != AVERROR(EAGAIN)) ++damaged;
    const bool more = m_track->readPacket(*packet);
    if (avcodec_send_packet(m_decoder.get(), more ? packet.get() : nullptr) < 0) ++damaged;
  }
  m_ended = true;
  if (m_resampler) resample(nullptr);
  return false;
}

void SoundFile::take(const AVFrame& frame) {
  if (frame.nb_samples <= 0 || frame.sample_rate <= 0) return;
  prepareFor(frame);
  std::optional<double> stampS;
  if (frame.best_effort_timestamp != AV_NOPTS_VALUE)
    stampS = static_cast<double>(frame.best_effort_timestamp) * av_q2d(m_track->stream->time_base);
  const double atS = m_clock->place(stampS, static_cast<double>(frame.nb_samples) / frame.sample_rate);
  const double waiting = static_cast<double>(swr_get_delay(m_resampler.get(), kSoundRate));
  const double gapS = atS - (static_cast<double>(m_made) + waiting) / static_cast<double>(kSoundRate);
  if (gapS > kGapS || (m_made == 0 && gapS > 0.0)) {
    const auto silence = static_cast<std::int64_t>(std::llround(gapS * static_cast<double>(kSoundRate)));
    m_ready.resize(m_ready.size() + static_cast<std::size_t>(silence));
    m_made += silence;
  }
  resample(&frame);
}

void SoundFile::prepareFor(const AVFrame& frame) {
  const bool same = m_last && m_last->format == frame.format && m_last->sample_rate == frame.sample_rate &&
                    av_channel_layout_compare(&m_last->ch_layout, &frame.ch_layout) == 0;
  if (same) return;
  if (m_resampler) resample(nullptr);
  AVChannelLayout from{};
  av_channel_layout_copy(&from, &frame.ch_layout);
  if (from.order == AV_CHANNEL_ORDER_UNSPEC) av_channel_layout_default(&from, frame.ch_layout.nb_channels);
  AVChannelLayout mono = AV_CHANNEL_LAYOUT_MONO;
  SwrContext* context = nullptr;
  const int made = swr_alloc_set_opts2(&context, &mono, AV_SAMPLE_FMT_FLT, static_cast<int>(kSoundRate), &from,
                                       static_cast<AVSampleFormat>(frame.format), frame.sample_rate, 0, nullptr);
  av_channel_layout_uninit(&from);
  m_resampler.reset(context);
  if (made < 0 || swr_init(context) < 0)
    throw Exception(ErrorCode::kDamagedFile, m_file->path(), "its sound has a form that nothing plays");
  m_last = makeFrame();
  m_last->format = frame.format;
  m_last->sample_rate = frame.sample_rate;
  av_channel_layout_copy(&m_last->ch_layout, &frame.ch_layout);
}

// null: what the resampler holds back.
void SoundFile::resample(const AVFrame* frame) {
  const int in = frame == nullptr ? 0 : frame->nb_samples;
  const int most = swr_get_out_samples(m_resampler.get(), in);
  if (most <= 0) return;
  const std::size_t before = m_ready.size();
  m_ready.resize(before + static_cast<std::size_t>(most));
  auto* out = reinterpret_cast<std::uint8_t*>(m_ready.data() + before);
  const int got =
      swr_convert(m_resampler.get(), &out, most, frame == nullptr ? nullptr : const_cast<const std::uint8_t**>(frame->extended_data), in);
  if (got < 0) throw Exception(ErrorCode::kDamagedFile, m_file->path(), "its sound cannot be resampled");
  m_ready.resize(before + static_cast<std::size_t>(got));
  for (std::size_t at = before; at < m_ready.size(); ++at)
    if (!std::isfinite(m_ready[at])) m_ready[at] = 0.0F;
  m_made += got;
}

}  // namespace winnow::app
