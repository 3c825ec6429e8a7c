#include "app/media/subtitle_times.h"

#include <algorithm>

namespace winnow::app {
namespace {

constexpr QStringView kArrow = u"-->";
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
  const qsizetype arrow = line.indexOf(kArrow);
  if (arrow < 0) return std::nullopt;
  const QStringView after = line.sliced(arrow + kArrow.size()).trimmed();
  const auto space = std::ranges::find_if(after, [](QChar c) { return c.isSpace(); });
  const auto start = subtitleSeconds(line.left(arrow).trimmed());
  const auto end = subtitleSeconds(after.left(space - after.begin()));
  if (!start || !end) return std::nullopt;
  return CueTimes{*start, *end};
}

bool wouldBeTimes(QStringView line) {
  const qsizetype arrow = line.indexOf(kArrow);
  const QStringView before = line.left(std::max<qsizetype>(0, arrow)).trimmed();
  return before.contains(u':') && std::ranges::all_of(before, [](QChar c) { return isDigit(c) || QStringView(u":,.- ").contains(c); });
}

}  // namespace winnow::app
