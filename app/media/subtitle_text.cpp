#include "app/media/subtitle_text.h"

#include <QString>
#include <QStringView>
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>
#include <utility>

#include "engine/base/error.h"

namespace winnow::app {
namespace {

constexpr std::string_view kArrow = "-->";
constexpr std::string_view kSpace = " \t\f";
constexpr int kMostDigits = 4;  // of hours

struct Entity {
  QStringView name;
  char16_t character;
};
constexpr std::array<Entity, 8> kEntities = {{{u"&amp;", u'&'},
                                              {u"&lt;", u'<'},
                                              {u"&gt;", u'>'},
                                              {u"&quot;", u'"'},
                                              {u"&#39;", u'\''},
                                              {u"&nbsp;", u' '},
                                              {u"&lrm;", u' '},
                                              {u"&rlm;", u' '}}};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

bool isNumber(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

// "01:02:03,456", "02:03.456", "02:03"
std::optional<double> secondsOf(std::string_view text) {
  double seconds = 0.0;
  int fields = 0;
  while (true) {
    int value = 0, digits = 0;
    while (!text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) != 0 && digits <= kMostDigits) {
      value = value * 10 + (text.front() - '0');
      text.remove_prefix(1);
      ++digits;
    }
    if (digits == 0 || digits > kMostDigits || ++fields > 3) return std::nullopt;
    seconds = seconds * 60.0 + value;
    if (text.empty() || text.front() != ':') break;
    text.remove_prefix(1);
  }
  if (fields < 2) return std::nullopt;
  if (!text.empty() && (text.front() == ',' || text.front() == '.')) {
    text.remove_prefix(1);
    double place = 0.1;
    while (!text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) != 0) {
      seconds += place * (text.front() - '0');
      place *= 0.1;
      text.remove_prefix(1);
    }
  }
  if (!text.empty()) return std::nullopt;
  return seconds;
}

// The times of "00:01,000 --> 00:02,500 align:start"; none: another line.
std::optional<std::pair<double, double>> timesOf(std::string_view line) {
  const std::size_t arrow = line.find(kArrow);
  if (arrow == std::string_view::npos) return std::nullopt;
  std::string_view after = trimmed(line.substr(arrow + kArrow.size()));
  after = after.substr(0, after.find_first_of(kSpace));
  const std::optional<double> start = secondsOf(trimmed(line.substr(0, arrow)));
  const std::optional<double> end = secondsOf(after);
  if (!start || !end) return std::nullopt;
  return std::pair(*start, *end);
}

// Where each of the next `character`s is, looked for no further once there is none.
class Ahead {
 public:
  Ahead(const QString& text, QChar character) : m_text(text), m_character(character) {}
  qsizetype from(qsizetype at) {
    if (m_none) return -1;
    const qsizetype found = m_text.indexOf(m_character, at);
    m_none = found < 0;
    return found;
  }

 private:
  const QString& m_text;
  QChar m_character;
  bool m_none = false;
};

// Without <...> that begin as tags do; a "<" that is only meant as such stays.
QString withoutTags(const QString& text) {
  QString plain;
  Ahead closing(text, u'>');
  qsizetype at = 0;
  while (at < text.size()) {
    const QChar c = text[at];
    const QChar next = at + 1 < text.size() ? text[at + 1] : QChar();
    if (c == u'<' && (next.isLetterOrNumber() || next == u'/')) {
      const qsizetype end = closing.from(at);
      if (end >= 0) {
        at = end + 1;
        continue;
      }
    }
    plain += c;
    ++at;
  }
  return plain;
}

QString withoutOverrides(const QString& text, bool all) {
  QString plain;
  Ahead closing(text, u'}');
  qsizetype at = 0;
  while (at < text.size()) {
    const bool begins = text[at] == u'{' && (all || (at + 1 < text.size() && text[at + 1] == u'\\'));
    const qsizetype end = begins ? closing.from(at) : -1;
    if (end >= 0) {
      at = end + 1;
      continue;
    }
    plain += text[at++];
  }
  return plain;
}

// One pass, so that "&amp;lt;" is "&lt;".
QString withoutEntities(const QString& text) {
  QString plain;
  qsizetype at = 0;
  while (at < text.size()) {
    const QStringView rest = QStringView(text).sliced(at);
    const auto* entity = rest.front() != u'&'
                             ? kEntities.end()
                             : std::ranges::find_if(kEntities, [&](const Entity& each) { return rest.startsWith(each.name); });
    plain += entity == kEntities.end() ? rest.front() : QChar(entity->character);
    at += entity == kEntities.end() ? 1 : entity->name.size();
  }
  return plain;
}

}  // namespace

std::string plainSubtitle(std::string_view cue, SubtitleMarkup markup) {
  QString text = QString::fromUtf8(cue.data(), static_cast<qsizetype>(cue.size()));
  text = withoutOverrides(text, markup == SubtitleMarkup::kAss);
  if (markup == SubtitleMarkup::kAss) {
    for (const char* escape : {"\\N", "\\n", "\\h"}) text.replace(QLatin1String(escape), QLatin1String(" "));
  } else {
    text = withoutEntities(withoutTags(text));
  }
  for (QChar& c : text) {
    if (c.category() == QChar::Other_Control) c = u' ';
  }
  return text.simplified().toStdString();
}

void SubtitleLines::add(double startS, double endS, std::string text) {
  if (text.empty() || !std::isfinite(startS) || !std::isfinite(endS)) return;
  if (text.size() > kMostSubtitleBytes) {
    throw Exception(ErrorCode::kLimitExceeded, m_subject,
                    "a line of its subtitles is longer than " + std::to_string(kMostSubtitleBytes) + " bytes");
  }
  if (m_lines.size() == kMostSubtitleLines)
    throw Exception(ErrorCode::kLimitExceeded, m_subject, "it has more than " + std::to_string(kMostSubtitleLines) + " lines of subtitles");
  m_lines.push_back({startS, std::max(startS, endS), std::move(text)});
}

std::vector<TimedLine> SubtitleLines::take() {
  std::ranges::stable_sort(m_lines, {}, &TimedLine::start_s);
  return std::move(m_lines);
}

std::vector<TimedLine> parseSubtitles(std::string_view utf8, const std::string& subject) {
  SubtitleLines lines(subject);
  std::optional<std::pair<double, double>> times;
  std::vector<std::string_view> said;
  const auto finish = [&] {
    if (times) {
      std::string cue;
      for (const std::string_view line : said) cue.append(line).append("\n");
      lines.add(times->first, times->second, plainSubtitle(cue, SubtitleMarkup::kTags));
    }
    times.reset();
    said.clear();
  };
  while (!utf8.empty()) {
    const std::size_t end = std::min(utf8.find('\n'), utf8.size());
    const std::string_view line = trimmed(utf8.substr(0, end));
    utf8.remove_prefix(std::min(end + 1, utf8.size()));
    if (const auto found = timesOf(line)) {
      // The counter of a cue that no empty line parts from the one before.
      if (!said.empty() && isNumber(said.back())) said.pop_back();
      finish();
      times = found;
    } else if (line.empty()) {
      finish();
    } else if (times) {
      said.push_back(line);
    }
  }
  finish();
  std::vector<TimedLine> all = lines.take();
  if (all.empty()) throw Exception(ErrorCode::kDamagedFile, subject, "it holds no subtitles: no line of it has times and words");
  return all;
}

}  // namespace winnow::app
