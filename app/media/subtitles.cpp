#include "app/media/subtitles.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "app/media/content_type.h"
#include "app/media/document_text.h"
#include "app/media/media_file.h"
#include "app/media/subtitle_text.h"
#include "app/media/video_container.h"

namespace winnow::app {
namespace {

constexpr int kMostReadErrors = 32;  // in a row, as for pictures
constexpr int kAssFieldsBefore = 8;  // of a packet, before its text
constexpr qsizetype kMostTag = 16;   // characters of "en" or "pt-BR.forced" in clip.en.srt
constexpr int kMostBeside = 20'000;  // files that a folder may have until its names are not looked through
constexpr std::size_t kMovTextHead = 2;

bool isText(AVCodecID codec) {
  return codec == AV_CODEC_ID_SUBRIP || codec == AV_CODEC_ID_TEXT || codec == AV_CODEC_ID_MOV_TEXT || codec == AV_CODEC_ID_WEBVTT ||
         codec == AV_CODEC_ID_ASS || codec == AV_CODEC_ID_SSA;
}

// What a packet says. MP4: its length in two bytes, then text and boxes of style. ASS: fields parted by commas, the text last.
std::string saidIn(std::string_view bytes, AVCodecID codec) {
  if (codec == AV_CODEC_ID_MOV_TEXT) {
    if (bytes.size() < kMovTextHead) return {};
    const std::size_t length = (static_cast<std::size_t>(static_cast<unsigned char>(bytes[0])) << 8) | static_cast<unsigned char>(bytes[1]);
    return plainSubtitle(bytes.substr(kMovTextHead, length), SubtitleMarkup::kTags);
  }
  if (codec == AV_CODEC_ID_ASS || codec == AV_CODEC_ID_SSA) {
    for (int field = 0; field < kAssFieldsBefore; ++field) {
      const std::size_t comma = bytes.find(',');
      if (comma == std::string_view::npos) return {};
      bytes.remove_prefix(comma + 1);
    }
    return plainSubtitle(bytes, SubtitleMarkup::kAss);
  }
  return plainSubtitle(bytes, SubtitleMarkup::kTags);
}

std::vector<TimedLine> readStream(VideoContainer& container, int index, const DecodeWatch& watch) {
  AVFormatContext& format = container.format();
  const std::span<AVStream* const> streams(format.streams, format.nb_streams);
  for (AVStream* const stream : streams) stream->discard = stream->index == index ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
  const AVStream& text = *streams[static_cast<std::size_t>(index)];
  const double startS = -container.secondsAt(0);
  const double tickS = av_q2d(text.time_base);
  SubtitleLines lines(container.path());
  std::int64_t bytes = 0;
  const AvPacket packet = makePacket();
  for (int errors = 0; errors < kMostReadErrors;) {
    watch.check(container.path());
    av_packet_unref(packet.get());
    const int result = av_read_frame(&format, packet.get());
    if (result == AVERROR_EOF) break;
    if (result < 0) {
      ++errors;
      continue;
    }
    errors = 0;
    if (packet->stream_index != index || packet->pts == AV_NOPTS_VALUE || packet->data == nullptr) continue;
    bytes += packet->size;
    if (bytes > kDocumentBytes) throw Exception(ErrorCode::kLimitExceeded, container.path(), "its subtitles are longer than 16 MiB");
    const double atS = static_cast<double>(packet->pts) * tickS - startS;
    const double lastsS = packet->duration > 0 ? static_cast<double>(packet->duration) * tickS : 0.0;
    const std::string_view data(reinterpret_cast<const char*>(packet->data), static_cast<std::size_t>(packet->size));
    lines.add(std::max(0.0, atS), std::max(0.0, atS + lastsS), saidIn(data, text.codecpar->codec_id));
  }
  watch.check(container.path());
  std::vector<TimedLine> all = lines.take();
  if (all.empty()) throw Exception(ErrorCode::kDamagedFile, container.path(), "its subtitles have no words");
  return all;
}

std::optional<ContentType> contentOf(const MediaFile& file) {
  try {
    return detectContent(file);
  } catch (const Exception& problem) {
    if (problem.error().code != ErrorCode::kUnsupportedFormat) throw;
    return std::nullopt;
  }
}

// A language, and what stands with it: "en", "pt-BR", "en.forced".
bool isTag(const QString& text) {
  return !text.isEmpty() && text.size() <= kMostTag &&
         std::ranges::all_of(text, [](QChar c) { return c.isLetterOrNumber() || c == u'-' || c == u'_' || c == u'.'; });
}

}  // namespace

std::string subtitlesBeside(const std::string& video) {
  const QFileInfo file(QFile::decodeName(QByteArray::fromStdString(video)));
  const QDir folder(file.absolutePath());
  const QString stem = file.completeBaseName();
  const auto path = [&](const QString& name) { return QFile::encodeName(folder.filePath(name)).toStdString(); };
  for (const char* suffix : {".srt", ".vtt", ".SRT", ".VTT"}) {
    const QString name = stem + QLatin1String(suffix);
    if (QFileInfo(folder.filePath(name)).isFile()) return path(name);
  }
  const QStringList all = folder.entryList(QDir::Files, QDir::Name);
  if (all.size() > kMostBeside) return {};
  for (const QString& name : all) {
    const bool subtitles =
        name.endsWith(QLatin1String(".srt"), Qt::CaseInsensitive) || name.endsWith(QLatin1String(".vtt"), Qt::CaseInsensitive);
    if (!subtitles || !name.startsWith(stem + u'.')) continue;
    if (isTag(name.sliced(stem.size() + 1).chopped(4))) return path(name);
  }
  return {};
}

std::string subtitlesOf(const std::string& video, const MediaInfo& info) {
  if (info.kind != MediaKind::kVideo) return {};
  std::string beside = subtitlesBeside(video);
  return !beside.empty() ? beside : info.holdsText ? video : std::string();
}

int textStreamOf(const AVFormatContext& format) {
  int chosen = -1;
  for (const AVStream* const stream : std::span<AVStream* const>(format.streams, format.nb_streams)) {
    if (stream->codecpar->codec_type != AVMEDIA_TYPE_SUBTITLE || !isText(stream->codecpar->codec_id)) continue;
    if ((stream->disposition & AV_DISPOSITION_DEFAULT) != 0) return stream->index;
    if (chosen < 0) chosen = stream->index;
  }
  return chosen;
}

std::vector<TimedLine> readSubtitles(const std::string& path, const MediaLimits& limits, const InterruptToken& interrupt) {
  const MediaFile file(path);
  const std::optional<ContentType> type = contentOf(file);
  if (!type) return parseSubtitles(readDocument(file).utf8, path);
  if (kindOf(*type) != MediaKind::kVideo) throw Exception(ErrorCode::kUnsupportedFormat, path, "this is a picture, it has no subtitles");
  DecodeWatch watch;
  watch.arm(interrupt, limits.decodeBudgetMs);
  VideoContainer container(file, *type, limits, watch);
  const int index = textStreamOf(container.format());
  if (index < 0) throw Exception(ErrorCode::kUnsupportedFormat, path, "it holds no subtitles that are text");
  return readStream(container, index, watch);
}

}  // namespace winnow::app
