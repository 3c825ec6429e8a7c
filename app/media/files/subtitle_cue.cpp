#include "app/media/files/subtitle_cue.h"

#include <QRegularExpression>
#include <algorithm>

namespace winnow::app {
namespace {

constexpr int kMostDigits = 4;  // of hours
constexpr int kThousandthDigits = 3;

bool isDigit(QChar c) { return c >= u'0' && c <= u'9'; }

// The number that a text begins with, taken off it; none: it begins with none, or with one of more digits than a time has.
struct Digits {
  int value = 0;
  int count = 0;
};
Digits takeDigits(QStringView& text) {
  Digits digits;
  while (!text.isEmpty() && isDigit(text.front()) && digits.count <= kMostDigits) {
    digits.value = digits.value * 10 + text.front().digitValue();
    ++digits.count;
    text = text.sliced(1);
  }
  return digits;
}

double takeFraction(QStringView& text) {
  double fraction = 0.0, place = 0.1;
  while (!text.isEmpty() && isDigit(text.front())) {
    fraction += place * text.front().digitValue();
    place *= 0.1;
    text = text.sliced(1);
  }
  return fraction;
}

// Both sides of a line's arrow.
struct Sides {
  QStringView before, after;
};

// Another arrow than "-->" may be said: it parts times only where what is before it has seconds, as in "0:01:02" or "1:02.5".
std::optional<Sides> sidesOf(QStringView line) {
  if (!line.contains(u'>') && !line.contains(u'\u2192')) return std::nullopt;
  static const QRegularExpression kArrow(QStringLiteral(R"((-->)|(?:-|\x{2013}|\x{2014}|\x{2212}) ?>|\x{2192})"));
  const QRegularExpressionMatch arrow = kArrow.match(line.toString());
  if (!arrow.hasMatch()) return std::nullopt;
  const Sides sides{line.left(arrow.capturedStart()).trimmed(), line.sliced(arrow.capturedEnd()).trimmed()};
  const auto separators = std::ranges::count_if(sides.before, [](QChar c) { return QStringView(u":,.").contains(c); });
  if (!arrow.hasCaptured(1) && separators < 2) return std::nullopt;
  return sides;
}

QString withoutSpaces(QString time) {
  static const QRegularExpression kAround(QStringLiteral(R"(\s*([:,.])\s*)"));
  return time.replace(kAround, QStringLiteral("\\1"));
}

}  // namespace

std::optional<double> subtitleSeconds(QStringView text) {
  const bool negative = text.startsWith(u'-');
  if (negative) text = text.sliced(1);
  double seconds = 0.0;
  for (int fields = 1;; ++fields) {
    const Digits digits = takeDigits(text);
    if (digits.count == 0 || digits.count > kMostDigits) return std::nullopt;
    if (fields == 4) {
      if (digits.count != kThousandthDigits || !text.isEmpty()) return std::nullopt;
      seconds += digits.value / 1000.0;
      break;
    }
    seconds = seconds * 60.0 + digits.value;
    if (!text.isEmpty() && text.front() == u':') {
      text = text.sliced(1);
      continue;
    }
    if (fields < 2) return std::nullopt;
    if (!text.isEmpty() && (text.front() == u',' || text.front() == u'.')) {
      text = text.sliced(1);
      seconds += takeFraction(text);
    }
    if (!text.isEmpty()) return std::nullopt;
    break;
  }
  return negative ? -seconds : seconds;
}

std::optional<CueTimes> cueTimes(QStringView line) {
  const auto sides = sidesOf(line);
  if (!sides) return std::nullopt;
  static const QRegularExpression kFirstTime(QStringLiteral(R"(^-?\d+(?:\s*[:,.]\s*\d+)+(?=\s|$))"));
  const auto start = subtitleSeconds(withoutSpaces(sides->before.toString()));
  const auto end = subtitleSeconds(withoutSpaces(kFirstTime.match(sides->after.toString()).captured()));
  if (!start || !end) return std::nullopt;
  return CueTimes{*start, *end};
}

bool wouldBeTimes(QStringView line) {
  const QStringView before = sidesOf(line).value_or(Sides()).before;
  return before.contains(u':') && std::ranges::all_of(before, [](QChar c) { return isDigit(c) || QStringView(u":,.- ").contains(c); });
}

}  // namespace winnow::app
