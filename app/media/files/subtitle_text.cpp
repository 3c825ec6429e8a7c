#include "app/media/files/subtitle_text.h"

#include <QList>
#include <QRegularExpression>
#include <QStringList>
#include <QStringView>
#include <algorithm>
#include <optional>
#include <utility>

#include "app/media/files/rolling_captions.h"
#include "app/media/files/subtitle_markup.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

constexpr qsizetype kLookedThrough = 4096;  // for a section's head

// The columns of an event's fields; the last takes all that is left.
struct EventFields {
  qsizetype start = 1, end = 2, text = 9;
};

EventFields fieldsOf(QStringView format) {
  const QList<QStringView> names = format.split(u',');
  EventFields fields;
  for (qsizetype i = 0; i < names.size(); ++i) {
    const QStringView name = names[i].trimmed();
    if (name.compare(u"Start", Qt::CaseInsensitive) == 0) fields.start = i;
    if (name.compare(u"End", Qt::CaseInsensitive) == 0) fields.end = i;
    if (name.compare(u"Text", Qt::CaseInsensitive) == 0) fields.text = i;
  }
  return fields;
}

std::optional<SubtitleCue> eventOf(QStringView line, const EventFields& fields, SubtitleLosses& losses) {
  std::vector<QStringView> values;
  for (qsizetype field = 0; field < fields.text; ++field) {
    const qsizetype comma = line.indexOf(u',');
    if (comma < 0) break;
    values.push_back(line.left(comma).trimmed());
    line = line.sliced(comma + 1);
  }
  const auto last = static_cast<std::size_t>(std::max(fields.start, fields.end));
  const bool whole = static_cast<qsizetype>(values.size()) == fields.text && last < values.size();
  const auto start = whole ? subtitleSeconds(values[static_cast<std::size_t>(fields.start)]) : std::nullopt;
  const auto end = whole ? subtitleSeconds(values[static_cast<std::size_t>(fields.end)]) : std::nullopt;
  if (!start || !end) {
    ++losses.untimed;
    return std::nullopt;
  }
  SubtitleCue cue{*start, *end, plainCue(line.toString(), SubtitleMarkup::kAss, losses)};
  if (cue.lines.empty()) return std::nullopt;
  return cue;
}

// Advanced SubStation Alpha (.ass, .ssa): the events of a file that are said.
//
// Lenient where players are: the order of an event's fields is that of the section's Format line, comments and other sections are passed
// over. Pure.

// True if the text is such a file.
bool isAssFile(QStringView text) {
  const QStringView head = text.left(kLookedThrough);
  return head.trimmed().startsWith(u"[Script Info]", Qt::CaseInsensitive) || head.startsWith(u"[Events]", Qt::CaseInsensitive) ||
         head.contains(u"\n[Events]", Qt::CaseInsensitive);
}

// Its events, in the order of the file.
std::vector<SubtitleCue> readAssFile(QStringView text, SubtitleLosses& losses) {
  std::vector<SubtitleCue> cues;
  EventFields fields;
  bool inEvents = false;
  for (const QStringView whole : text.split(u'\n')) {
    const QStringView line = whole.trimmed();
    if (line.startsWith(u'[')) inEvents = line.compare(u"[Events]", Qt::CaseInsensitive) == 0;
    const qsizetype colon = line.indexOf(u':');
    if (!inEvents || colon < 0) continue;
    const QStringView kind = line.left(colon), rest = line.sliced(colon + 1);
    if (kind.compare(u"Format", Qt::CaseInsensitive) == 0) fields = fieldsOf(rest);
    if (kind.compare(u"Dialogue", Qt::CaseInsensitive) != 0) continue;
    if (std::optional<SubtitleCue> cue = eventOf(rest, fields, losses)) cues.push_back(std::move(*cue));
  }
  return cues;
}

#define CONVERT_SUBTITLES "which are not read; this converts them: ffmpeg -i FILE NEW.srt"
#define SAVE_SUBTITLES "which are not read; save them as .srt or .vtt"

constexpr qsizetype kLookedAt = 4096;  // characters from the beginning on

struct ForeignFormat {
  const char* line;  // that it is known by
  const char* sentence;
};

constexpr ForeignFormat kForeign[] = {
    {R"(^\{\d+\}\{\d*\})",
     "these are MicroDVD subtitles, which count frames and are not read; this converts them (25: their frames in a second): "
     "ffmpeg -f microdvd -subfps 25 -i FILE NEW.srt"},
    {R"(^\s*<SAMI\b)", "these are SAMI subtitles, " CONVERT_SUBTITLES},
    {R"(<(\w+:)?tt\b[^>]*ttml)", "these are TTML subtitles, " SAVE_SUBTITLES},
    {R"(^\[\d+\]\[\d*\])", "these are MPL2 subtitles, which are not read; this converts them: ffmpeg -f mpl2 -i FILE NEW.srt"},
    {R"(^\[INFORMATION\])", "these are SubViewer subtitles, " CONVERT_SUBTITLES},
    {R"(^\[\d+:\d\d([.:]\d+)?\])", "these are lyrics (LRC), " CONVERT_SUBTITLES},
    {R"(^Scenarist_SCC)", "these are closed captions (SCC), " SAVE_SUBTITLES},
    {R"(^\d+:\d\d:\d\d\.\d+,\d+:\d\d:\d\d\.\d+\s*$)", "these are SubViewer or YouTube (SBV) subtitles, " CONVERT_SUBTITLES},
    {R"(^\d\d:\d\d:\d\d:\S)", "these are TMPlayer subtitles, " CONVERT_SUBTITLES},
};

#undef CONVERT_SUBTITLES
#undef SAVE_SUBTITLES

// Formats of subtitles that are not read here: which of them a text is, and what makes one of it that is.
//
// Pure.

// The end of a sentence: "these are SAMI subtitles, which ...; this converts them: ..."; null: nothing that is known.
const char* foreignSubtitles(QStringView text) {
  const QString beginning = text.left(kLookedAt).toString();
  for (const ForeignFormat& format : kForeign) {
    const QRegularExpression line(QString::fromLatin1(format.line),
                                  QRegularExpression::MultilineOption | QRegularExpression::CaseInsensitiveOption);
    if (line.match(beginning).hasMatch()) return format.sentence;
  }
  return nullptr;
}

bool isNumber(QStringView text) {
  return !text.isEmpty() && std::ranges::all_of(text, [](QChar c) { return c >= u'0' && c <= u'9'; });
}

// SubRip and WebVTT, line by line.
class CueReader {
 public:
  CueReader(bool webVtt, SubtitleLosses& losses) : m_webVtt(webVtt), m_losses(losses) {}

  void take(QStringView line) {
    const QStringView said = line.trimmed();
    if (const auto times = cueTimes(said)) {
      begin(times);
    } else if (wouldBeTimes(said)) {
      begin(std::nullopt);
    } else if (line.isEmpty() && m_webVtt) {
      finish();
    } else if (m_inCue) {
      m_said.push_back(said);
    } else if (!m_webVtt && !said.isEmpty() && !isNumber(said)) {
      ++m_losses.untimed;
    }
  }

  std::vector<SubtitleCue> end() {
    finish();
    return std::move(m_cues);
  }

 private:
  void begin(std::optional<CueTimes> times) {
    leaveOutCounter();
    finish();
    m_times = times;
    m_inCue = true;
  }

  // The number of the cue that begins: the last line before its times, or a line by itself before them.
  void leaveOutCounter() {
    std::size_t last = m_said.size();
    while (last > 0 && m_said[last - 1].isEmpty()) --last;
    if (last == 0 || !isNumber(m_said[last - 1])) return;
    const bool isLast = last == m_said.size(), isAlone = last > 1 && m_said[last - 2].isEmpty();
    if (isLast || isAlone) m_said.resize(last - 1);
  }

  void finish() {
    QString cue;
    for (const QStringView line : m_said) cue.append(line).append(u'\n');
    std::vector<QString> lines = m_inCue ? plainCue(cue, SubtitleMarkup::kTags, m_losses) : std::vector<QString>();
    if (!m_times)
      m_losses.untimed += static_cast<qsizetype>(lines.size());
    else if (!lines.empty())
      m_cues.push_back({m_times->startS, m_times->endS, std::move(lines)});
    m_inCue = false;
    m_times.reset();
    m_said.clear();
  }

  const bool m_webVtt;
  SubtitleLosses& m_losses;
  bool m_inCue = false;
  std::optional<CueTimes> m_times;  // none in a cue: they cannot be read
  std::vector<QStringView> m_said;
  std::vector<SubtitleCue> m_cues;
};

}  // namespace

std::vector<MediaNotice> SubtitleLosses::notices() const {
  std::vector<MediaNotice> notices;
  const auto note = [&](NoticeCode code, qsizetype count) {
    if (count > 0) notices.push_back({code, count});
  };
  note(NoticeCode::kLinesUntimed, untimed);
  note(NoticeCode::kLinesRepeated, repeated);
  note(NoticeCode::kSpeakersLeftOut, speakers);
  note(NoticeCode::kDrawingsLeftOut, drawings);
  return notices;
}

Subtitles joinCues(std::vector<SubtitleCue> cues, SubtitleLosses losses, const std::string& subject) {
  if (cues.size() > kMostCues)
    throw Exception(ErrorCode::kLimitExceeded, subject, "it has more than " + std::to_string(kMostCues) + " cues of subtitles");
  for (SubtitleCue& cue : cues) {
    cue.startS = std::max(0.0, cue.startS);
    cue.endS = std::max(cue.startS, cue.endS);
  }
  std::ranges::stable_sort(cues, {}, &SubtitleCue::startS);
  tellLinesOnce(cues, losses);
  if (cues.size() > kMostSubtitleLines)
    throw Exception(ErrorCode::kLimitExceeded, subject, "it has more than " + std::to_string(kMostSubtitleLines) + " lines of subtitles");
  Subtitles subtitles;
  for (const SubtitleCue& cue : cues) {
    std::string text;
    for (const QString& line : cue.lines) text.append(text.empty() ? "" : " ").append(line.toStdString());
    if (text.size() > kMostSubtitleBytes) {
      throw Exception(ErrorCode::kLimitExceeded, subject,
                      "a line of its subtitles is longer than " + std::to_string(kMostSubtitleBytes) + " bytes");
    }
    subtitles.lines.push_back({cue.startS, cue.endS, std::move(text)});
  }
  subtitles.notices = losses.notices();
  return subtitles;
}

Subtitles parseSubtitles(const QString& text, const std::string& subject) {
  SubtitleLosses losses;
  std::vector<SubtitleCue> cues;
  if (isAssFile(text)) {
    cues = readAssFile(text, losses);
  } else {
    CueReader reader(text.startsWith(u"WEBVTT"), losses);
    for (const QStringView line : QStringView(text).split(u'\n')) reader.take(line);
    cues = reader.end();
  }
  if (cues.empty()) {
    if (const char* const foreign = foreignSubtitles(text)) throw Exception(ErrorCode::kUnsupportedFormat, subject, foreign);
    throw Exception(ErrorCode::kDamagedFile, subject, "it holds no subtitles: no line of it has times and words");
  }
  return joinCues(std::move(cues), losses, subject);
}

}  // namespace winnow::app
