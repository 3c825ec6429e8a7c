#include "app/media/files/subtitle_text.h"

#include <QList>
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "app/media/files/ass_file.h"
#include "app/media/files/foreign_subtitles.h"
#include "app/media/files/rolling_captions.h"
#include "app/media/files/subtitle_markup.h"
#include "app/media/files/subtitle_times.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

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
