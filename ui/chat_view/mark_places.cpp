#include "ui/chat_view/mark_places.h"

namespace winnow::ui {
namespace {

// Further on than this it is another word of the same spelling; markup between two words is short.
constexpr qsizetype kReach = 240;

// The part of a word that Markdown certainly shows: its longest run of letters and digits; without one, the word itself.
QStringView core(QStringView word) {
  qsizetype best = 0, bestLength = 0;
  for (qsizetype i = 0; i < word.size();) {
    qsizetype end = i;
    while (end < word.size() && (word[end].isLetterOrNumber() || word[end].isSurrogate() || word[end].isMark())) ++end;
    if (end - i > bestLength) {
      best = i;
      bestLength = end - i;
    }
    i = end == i ? i + 1 : end;
  }
  return bestLength > 0 ? word.mid(best, bestLength) : word;
}

bool isBreak(QChar c) {
  return c.isSpace() || c == QChar::ParagraphSeparator || c == QChar::LineSeparator || c == u'\ufdd0' || c == u'\ufdd1';
}

}  // namespace

std::vector<MarkPlace> placesOfMarks(QStringView source, const std::vector<TextMark>& marks, QStringView shown) {
  std::vector<MarkPlace> places;
  qsizetype at = 0;  // in shown: behind the last word that was found
  std::size_t next = 0;
  for (qsizetype i = 0; i < source.size() && next < marks.size();) {
    if (source[i].isSpace()) {
      ++i;
      continue;
    }
    qsizetype end = i;
    while (end < source.size() && !source[end].isSpace()) ++end;
    const QStringView wanted = core(source.mid(i, end - i));
    const qsizetype offset = shown.mid(at, kReach + wanted.size()).indexOf(wanted);
    while (next < marks.size() && marks[next].from + marks[next].length <= i) ++next;
    if (offset >= 0) {
      const qsizetype found = at + offset;
      if (next < marks.size() && marks[next].from < end) {
        qsizetype from = found, to = found + wanted.size();
        while (from > at && !isBreak(shown[from - 1])) --from;
        while (to < shown.size() && !isBreak(shown[to])) ++to;
        places.push_back({static_cast<int>(from), static_cast<int>(to), next});
      }
      at = found + wanted.size();
    }
    i = end;
  }
  return places;
}

}  // namespace winnow::ui
