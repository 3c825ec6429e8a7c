#include "app/media/files/plain_characters.h"

namespace winnow::app {
namespace {

constexpr char16_t kEscape = 0x1B;
constexpr char16_t kEndOfFile = 0x1A;  // DOS's
constexpr char16_t kDelete = 0x7F;

bool isForm(QChar c) { return c == u'\n' || c == u'\t' || c == u'\f'; }
bool isControl(QChar c) { return (c.unicode() < 0x20 && !isForm(c)) || c.unicode() == kDelete; }

// Characters of a terminal's sequence that begins at `at` with escape: "ESC [ 3 1 m"; 1: the escape alone.
qsizetype sequenceLength(const QString& text, qsizetype at) {
  if (at + 1 >= text.size() || text[at + 1] != u'[') return 1;
  for (qsizetype end = at + 2; end < text.size(); ++end) {
    if (text[end].unicode() >= 0x40 && text[end].unicode() <= 0x7E) return end - at + 1;
    if (text[end].unicode() < 0x20 || text[end].unicode() > 0x7E) break;
  }
  return 1;
}

void endLinesAlike(QString& text) {
  text.replace(QLatin1String("\r\n"), QLatin1String("\n"));
  for (QChar& c : text) {
    if (c == u'\r' || c == u'\v' || c.unicode() == 0x85) c = u'\n';
  }
}

// Before the mark of DOS and the zeros of a file that was given more room than it has words.
qsizetype endOfWords(const QString& text) {
  qsizetype end = text.size();
  while (end > 0 && (text[end - 1].isNull() || text[end - 1].unicode() == kEndOfFile)) --end;
  return end;
}

}  // namespace

qsizetype makePlain(QString& text) {
  endLinesAlike(text);
  const qsizetype end = endOfWords(text);
  qsizetype leftOut = text.size() - end;
  text.truncate(end);
  QString plain;
  plain.reserve(text.size());
  for (qsizetype at = 0; at < text.size(); ++at) {
    const QChar c = text[at];
    if (!isControl(c)) {
      plain += c;
    } else if (c == u'\b' && !plain.isEmpty() && plain.back() != u'\n' && at + 1 < text.size() && !isControl(text[at + 1])) {
      const QChar over = text[++at];
      if (over != u'_') plain.back() = over;
    } else if (c.unicode() == kEscape) {
      const qsizetype length = sequenceLength(text, at);
      leftOut += length;
      at += length - 1;
    } else {
      ++leftOut;
      if (c.unicode() != kDelete && c != u'\b') plain += u' ';
    }
  }
  text = std::move(plain);
  return leftOut;
}

qsizetype countBinary(const QString& text) {
  const qsizetype end = endOfWords(text);
  if (end == 0) return text.size();
  qsizetype count = 0;
  for (const QChar c : QStringView(text).first(end))
    count += isControl(c) && c != u'\r' && c != u'\v' && c != u'\b' && c.unicode() != kEscape ? 1 : 0;
  return count;
}

}  // namespace winnow::app
