#include "app/media/files/subtitles.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "app/media/files/container_extent.h"
#include "app/media/files/content_type.h"
#include "app/media/files/document_text.h"
#include "app/media/files/subtitle_markup.h"
#include "app/media/files/video_container.h"

namespace winnow::app {
namespace {

constexpr int kMostReadErrors = 32;  // in a row, as for pictures
constexpr int kAssFieldsBefore = 8;  // of a packet, before its text
constexpr qsizetype kMostTag = 16;   // characters of "en" or "pt-BR.forced" in clip.en.srt
constexpr int kMostBeside = 20'000;  // files that a folder may have until its names are not looked through
constexpr std::size_t kMovTextHead = 2;
constexpr unsigned kMovAllForced = 0x80;  // of the first byte of a text track's description
constexpr std::array<const char*, 4> kSuffixes = {".srt", ".vtt", ".ass", ".ssa"};
constexpr qsizetype kSuffixLength = 4;

bool isText(AVCodecID codec) {
  return codec == AV_CODEC_ID_SUBRIP || codec == AV_CODEC_ID_TEXT || codec == AV_CODEC_ID_MOV_TEXT || codec == AV_CODEC_ID_WEBVTT ||
         codec == AV_CODEC_ID_ASS || codec == AV_CODEC_ID_SSA;
}

// A packet's bytes, and when they are shown.
struct TextPacket {
  double startS = 0.0;
  double endS = 0.0;
  std::string said;
};

// The text of a packet. MP4: its length in two bytes, then text and boxes of style. ASS: fields parted by commas, the text last.
std::string_view textOf(std::string_view bytes, AVCodecID codec) {
  if (codec == AV_CODEC_ID_MOV_TEXT) {
    if (bytes.size() < kMovTextHead) return {};
    const std::size_t length = (static_cast<std::size_t>(static_cast<unsigned char>(bytes[0])) << 8) | static_cast<unsigned char>(bytes[1]);
    return bytes.substr(kMovTextHead, length);
  }
  if (codec != AV_CODEC_ID_ASS && codec != AV_CODEC_ID_SSA) return bytes;
  for (int field = 0; field < kAssFieldsBefore; ++field) {
    const std::size_t comma = bytes.find(',');
    if (comma == std::string_view::npos) return {};
    bytes.remove_prefix(comma + 1);
  }
  return bytes;
}

std::vector<TextPacket> readPackets(VideoContainer& container, int index, const DecodeWatch& watch) {
  AVFormatContext& format = container.format();
  const std::span<AVStream* const> streams(format.streams, format.nb_streams);
  for (AVStream* const stream : streams) stream->discard = stream->index == index ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
  const AVStream& text = *streams[static_cast<std::size_t>(index)];
  const double startS = -container.secondsAt(0);
  const double tickS = av_q2d(text.time_base);
  std::vector<TextPacket> packets;
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
    packets.push_back({atS, atS + lastsS, std::string(textOf(data, text.codecpar->codec_id))});
  }
  watch.check(container.path());
  return packets;
}

TextBytes bytesOf(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

// Judged by all packets together: one has too few words. One that begins with a mark (MP4 allows UTF-16) is read as it says.
Subtitles readStream(VideoContainer& container, int index, const std::string& encoding, const DecodeWatch& watch) {
  const AVCodecID codec = container.format().streams[index]->codecpar->codec_id;
  const std::vector<TextPacket> packets = readPackets(container, index, watch);
  std::string unmarked;
  for (const TextPacket& packet : packets) {
    if (!encodingMark(bytesOf(packet.said))) unmarked.append(packet.said).append("\n");
  }
  std::vector<MediaNotice> notices;
  const std::string judged = encodingFor(bytesOf(unmarked), encoding, notices);
  const bool ass = codec == AV_CODEC_ID_ASS || codec == AV_CODEC_ID_SSA;
  SubtitleLosses losses;
  std::vector<SubtitleCue> cues;
  std::map<std::string, qsizetype> replaced;
  for (const TextPacket& packet : packets) {
    const auto mark = encodingMark(bytesOf(packet.said));
    const std::string& written = mark ? mark->encoding : judged;
    const DecodedText decoded = decodeText(bytesOf(packet.said).subspan(mark ? mark->bytes : 0), written);
    replaced[written] += decoded.replaced;
    std::vector<QString> lines = plainCue(decoded.text, ass ? SubtitleMarkup::kAss : SubtitleMarkup::kTags, losses);
    if (!lines.empty()) cues.push_back({packet.startS, packet.endS, std::move(lines)});
  }
  if (cues.empty()) throw Exception(ErrorCode::kDamagedFile, container.path(), "its subtitles have no words");
  for (const auto& [written, count] : replaced) noteReplaced(count, written, notices);
  Subtitles subtitles = joinCues(std::move(cues), losses, container.path());
  subtitles.notices.insert(subtitles.notices.begin(), notices.begin(), notices.end());
  return subtitles;
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

// "en.forced", "Signs & Songs"; not "Full (dialogue and signs)".
bool saysForced(const QString& name) {
  static const QRegularExpression part(QStringLiteral("\\b(forced|foreign|signs?)\\b"), QRegularExpression::CaseInsensitiveOption);
  static const QRegularExpression whole(QStringLiteral("\\b(full|dialog(ue)?)\\b"), QRegularExpression::CaseInsensitiveOption);
  const QString words = QString(name).replace(u'_', u' ');
  return words.contains(part) && !words.contains(whole);
}

QString tagOf(const AVStream& stream, const char* name) {
  const AVDictionaryEntry* const entry = av_dict_get(stream.metadata, name, nullptr, 0);
  return entry == nullptr ? QString() : QString::fromUtf8(entry->value);
}

// Says only a part of what is said, or something else.
bool isPart(const AVStream& stream) {
  const AVCodecParameters& codec = *stream.codecpar;
  const bool allForced = codec.codec_id == AV_CODEC_ID_MOV_TEXT && codec.extradata_size >= 4 && (codec.extradata[0] & kMovAllForced) != 0;
  return allForced || (stream.disposition & (AV_DISPOSITION_FORCED | AV_DISPOSITION_COMMENT)) != 0 || saysForced(tagOf(stream, "title"));
}

}  // namespace

std::string subtitlesBeside(const std::string& video) {
  const QFileInfo file(QFile::decodeName(QByteArray::fromStdString(video)));
  const QDir folder(file.absolutePath());
  const QString stem = file.completeBaseName();
  const auto path = [&](const QString& name) { return QFile::encodeName(folder.filePath(name)).toStdString(); };
  for (const char* suffix : kSuffixes) {
    for (const QString& each : {QString::fromLatin1(suffix), QString::fromLatin1(suffix).toUpper()}) {
      const QString name = stem + each;
      if (QFileInfo(folder.filePath(name)).isFile()) return path(name);
    }
  }
  const QStringList all = folder.entryList(QDir::Files, QDir::Name);
  if (all.size() > kMostBeside) return {};
  std::string forced;
  for (const QString& name : all) {
    const auto has = [&](const char* suffix) { return name.endsWith(QLatin1String(suffix), Qt::CaseInsensitive); };
    const bool subtitles = std::ranges::any_of(kSuffixes, has);
    if (!subtitles || !name.startsWith(stem + u'.')) continue;
    const QString tag = name.sliced(stem.size() + 1).chopped(kSuffixLength);
    if (isTag(tag) && !saysForced(tag)) return path(name);
    if (isTag(tag) && forced.empty()) forced = path(name);
  }
  return forced;
}

std::string subtitlesOf(const std::string& video, const MediaInfo& info) {
  if (info.kind != MediaKind::kVideo) return {};
  std::string beside = subtitlesBeside(video);
  const auto nameOf = [](const std::string& path) {
    return QFileInfo(QFile::decodeName(QByteArray::fromStdString(path))).completeBaseName();
  };
  const bool forced = saysForced(nameOf(beside).mid(nameOf(video).size()));
  return info.holdsText && (beside.empty() || forced) ? video : beside;
}

int textStreamOf(const AVFormatContext& format) {
  std::vector<const AVStream*> texts;
  for (const AVStream* const stream : std::span<AVStream* const>(format.streams, format.nb_streams)) {
    if (stream->codecpar->codec_type == AVMEDIA_TYPE_SUBTITLE && isText(stream->codecpar->codec_id)) texts.push_back(stream);
  }
  const auto isDefault = [](const AVStream* stream) { return (stream->disposition & AV_DISPOSITION_DEFAULT) != 0; };
  const auto usual = std::ranges::find_if(texts, isDefault);
  const QString language = usual == texts.end() ? QString() : tagOf(**usual, "language");
  // Whole before what is forced, then the default one, then one in its language; else the first.
  const auto rank = [&](const AVStream* stream) {
    return (isPart(*stream) ? 0 : 4) + (isDefault(stream) ? 2 : 0) +
           (!language.isEmpty() && tagOf(*stream, "language") == language ? 1 : 0);
  };
  const auto chosen = std::ranges::max_element(texts, {}, rank);
  return chosen == texts.end() ? -1 : (*chosen)->index;
}

Subtitles readSubtitles(const MediaFile& file, const std::string& encoding, const MediaLimits& limits, const InterruptToken& interrupt) {
  const std::string& path = file.path();
  const std::optional<ContentType> type = contentOf(file);
  if (!type) {
    const DocumentText text = readTextFile(file, encoding, "subtitles");
    Subtitles subtitles = parseSubtitles(QString::fromStdString(text.utf8), path);
    subtitles.notices.insert(subtitles.notices.begin(), text.notices.begin(), text.notices.end());
    return subtitles;
  }
  if (kindOf(*type) != MediaKind::kVideo) throw Exception(ErrorCode::kUnsupportedFormat, path, "this is a picture, it has no subtitles");
  DecodeWatch watch;
  watch.arm(interrupt, limits.decodeBudgetMs);
  VideoContainer container(file, *type, measureExtent(file, *type).ownBytes, limits, watch);
  const int index = textStreamOf(container.format());
  if (index < 0) throw Exception(ErrorCode::kUnsupportedFormat, path, "it holds no subtitles that are text");
  return readStream(container, index, encoding, watch);
}

void leaveOutBehind(Subtitles& subtitles, double playsS, double wantedToS) {
  std::vector<TimedLine>& lines = subtitles.lines;
  const auto behind = std::ranges::find_if(lines, [&](const TimedLine& line) { return line.start_s >= playsS; });
  const std::int64_t lost = std::count_if(behind, lines.end(), [&](const TimedLine& line) { return line.start_s < wantedToS; });
  if (lost > 0) add_notice(subtitles.notices, {NoticeCode::kLinesBehind, lost, static_cast<std::int64_t>(behind->start_s)});
  lines.erase(behind, lines.end());
}

}  // namespace winnow::app
