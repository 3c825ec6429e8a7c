#include "app/media/papers/page_lines.h"

#include <QHash>
#include <QSet>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace winnow::app {
namespace {

constexpr char16_t kFirstLigature = 0xFB00;
constexpr std::array<const char*, 7> kLigatures = {"ff", "fi", "fl", "ffi", "ffl", "st", "st"};
constexpr char16_t kSoftHyphen = 0xAD;
constexpr qsizetype kLongestWord = 100;  // before a hyphen: a made-up one is not looked through again at each of its lines

constexpr qsizetype kEdge = 2;  // lines from the top and from the bottom that may be a header or a footer
constexpr qsizetype kFewestPages = 3;
constexpr qsizetype kFewestRepeats = 2;  // of three pages the first may have no header
constexpr double kShareOfPages = 0.4;    // of the pages: headers may alternate between left and right pages

bool isWordPart(QChar c) { return c.isLetter() || c == u'-'; }

// Words with a hyphen inside a line, in small letters.
QSet<QString> hyphenated(const std::vector<QStringList>& pages) {
  QSet<QString> words;
  for (const QStringList& lines : pages) {
    for (const QString& line : lines) {
      for (qsizetype at = 0; at < line.size();) {
        qsizetype end = at;
        while (end < line.size() && isWordPart(line[end])) ++end;
        const QStringView word = QStringView(line).mid(at, end - at);
        if (word.contains(u'-') && !word.endsWith(u'-')) words.insert(word.toString().toLower());
        at = std::max(end, at + 1);
      }
    }
  }
  return words;
}

QString wordBefore(const QString& text) {
  qsizetype at = text.size();
  while (at > 0 && text.size() - at < kLongestWord && isWordPart(text[at - 1])) --at;
  return text.mid(at);
}

QString wordAt(QStringView text) {
  qsizetype end = 0;
  while (end < text.size() && isWordPart(text[end])) ++end;
  return text.first(end).toString();
}

// Appends a word's rest, which `rest` loses; the hyphen between them as it belongs there.
void join(QString& line, QString& rest, const QSet<QString>& known) {
  const QString first = wordBefore(line);
  const QString second = wordAt(rest);
  const bool capital = second.isEmpty() || second.front().isUpper() || first.isEmpty();
  if (capital || known.contains((first + u'-' + second).toLower())) line += u'-';
  qsizetype end = rest.indexOf(u' ');
  if (end < 0) end = rest.size();
  line += QStringView(rest).first(end);
  rest = rest.mid(end + 1);
}

bool partsAWord(const QString& line, const QString& next) {
  if (line.size() < 3 || !line.endsWith(u'-') || next.isEmpty()) return false;
  return line[line.size() - 2].isLetter() && next.front().isLower();
}

QStringList joined(const QStringList& lines, const QSet<QString>& known) {
  QStringList out;
  bool open = false;  // the last line ends within a word
  for (const QString& line : lines) {
    QStringList pieces = line.split(kLineHyphen);
    const bool goesOn = pieces.size() > 1 && pieces.last().isEmpty();
    if (goesOn) pieces.removeLast();
    for (qsizetype i = 0; i < pieces.size(); ++i) {
      QString& piece = pieces[i];
      if (!open && !out.isEmpty() && partsAWord(out.back(), piece)) {
        out.back().chop(1);
        open = true;
      }
      if (open) join(out.back(), piece, known);
      if (!open || !piece.isEmpty()) out << piece;
      open = i + 1 < pieces.size() || goesOn;
    }
  }
  if (open && !out.isEmpty()) out.back() += u'-';
  return out;
}

// A line without spaces, in small letters; its number `counted` (from 0) as its distance from the page's, the others as they are.
QString marginKey(const QString& line, qsizetype page, int counted) {
  QString key;
  int numbers = 0;
  for (qsizetype at = 0; at < line.size();) {
    qsizetype end = at;
    while (end < line.size() && line[end].isDigit()) ++end;
    const QStringView number = QStringView(line).mid(at, end - at);
    if (number.isEmpty()) {
      if (!line[at].isSpace()) key += line[at].toLower();
      ++at;
      continue;
    }
    key += numbers == counted ? u'#' + QString::number(number.toLongLong() - page) : number.toString();
    ++numbers;
    at = end;
  }
  return key;
}

bool isRoman(const QString& line) {
  return !line.isEmpty() && line.size() <= 7 && std::ranges::all_of(line, [](QChar c) { return QStringView(u"ivxlc").contains(c); });
}

// The part of a line that it may have in common with those of other pages: all of it, or all but a page number, which is its first or its
// last number.
QStringList marginKeys(const QString& line, qsizetype page) {
  if (isRoman(line)) return {QStringLiteral("roman")};
  int numbers = 0;
  for (qsizetype at = 0; at < line.size(); ++at) numbers += line[at].isDigit() && (at == 0 || !line[at - 1].isDigit()) ? 1 : 0;
  QStringList keys;
  if (numbers > 0) keys << marginKey(line, page, 0);
  if (numbers > 1) keys << marginKey(line, page, numbers - 1);
  // A bare number that stays the same is no header.
  if (std::ranges::any_of(line, [](QChar c) { return c.isLetter(); })) keys << marginKey(line, page, -1);
  return keys;
}

std::vector<qsizetype> edgeLines(const QStringList& lines) {
  std::vector<qsizetype> edges;
  for (qsizetype i = 0; i < lines.size(); ++i) {
    if (i < kEdge || i >= lines.size() - kEdge) edges.push_back(i);
  }
  return edges;
}

}  // namespace

QString plainLetters(QStringView text) {
  QString plain;
  plain.reserve(text.size());
  for (const QChar c : text) {
    const char16_t code = c.unicode();
    if (code >= kFirstLigature && code < kFirstLigature + kLigatures.size()) {
      plain += QLatin1String(kLigatures[code - kFirstLigature]);
    } else if (c.isSpace() || code == u'\t') {
      plain += u' ';
    } else if (c == kLineHyphen || (code >= 0x20 && code != kSoftHyphen && code != 0x7F)) {
      plain += c;
    }
  }
  return plain.trimmed();
}

QString logicalLine(QStringView line, DrawnOrder drawn) {
  QString logical = line.toString();
  if (drawn == DrawnOrder::kLogical) return logical;
  const auto belongs = [](QChar c) { return isRightToLeft(c) || c.direction() == QChar::DirNSM; };
  for (auto begin = logical.begin(); begin != logical.end();) {
    begin = std::find_if(begin, logical.end(), isRightToLeft);
    const auto end = std::find_if_not(begin, logical.end(), belongs);
    std::reverse(begin, end);
    begin = end;
  }
  if (drawn == DrawnOrder::kLetters) return logical;
  QStringList words = logical.split(u' ', Qt::SkipEmptyParts);
  std::ranges::reverse(words);
  return words.join(u' ');
}

void joinHyphens(std::vector<QStringList>& pages) {
  const QSet<QString> known = hyphenated(pages);
  for (QStringList& lines : pages) lines = joined(lines, known);
}

int leaveOutMargins(std::vector<QStringList>& pages) {
  QHash<QString, qsizetype> pagesWith;
  qsizetype written = 0;
  for (std::size_t page = 0; page < pages.size(); ++page) {
    QSet<QString> here;
    for (const qsizetype line : edgeLines(pages[page])) {
      const QStringList keys = marginKeys(pages[page][line], static_cast<qsizetype>(page));
      here.unite(QSet<QString>(keys.begin(), keys.end()));
    }
    for (const QString& key : std::as_const(here)) ++pagesWith[key];
    written += pages[page].isEmpty() ? 0 : 1;
  }
  if (written < kFewestPages) return 0;
  const auto enough = std::max(kFewestRepeats, static_cast<qsizetype>(std::ceil(kShareOfPages * static_cast<double>(written))));
  int leftOut = 0;
  for (std::size_t page = 0; page < pages.size(); ++page) {
    QStringList kept;
    int margins = 0;
    const std::vector<qsizetype> edges = edgeLines(pages[page]);
    for (qsizetype line = 0; line < pages[page].size(); ++line) {
      const bool edge = std::ranges::find(edges, line) != edges.end();
      const QStringList keys = edge ? marginKeys(pages[page][line], static_cast<qsizetype>(page)) : QStringList();
      if (std::ranges::any_of(keys, [&](const QString& key) { return pagesWith.value(key) >= enough; })) {
        ++margins;
      } else {
        kept << pages[page][line];
      }
    }
    if (kept.isEmpty()) continue;  // there is nothing else on this page
    leftOut += margins;
    pages[page] = std::move(kept);
  }
  return leftOut;
}

}  // namespace winnow::app
