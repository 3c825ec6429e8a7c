#include "ui/chat_view/formula_mask.h"

#include <algorithm>
#include <map>
#include <utility>

#include "ui/chat_view/formula/formula_parser.h"
#include "ui/chat_view/markdown_parser.h"

namespace winnow::ui {
namespace {

constexpr QChar kMark(0xFDD2);       // no character; the one behind it is the formula's number
constexpr char16_t kFirst = 0xE000;  // of Unicode's private use
constexpr std::size_t kMost = 6400;
constexpr qsizetype kLongestInLine = 400;

bool isWordCharacter(QStringView text, qsizetype at) { return at >= 0 && at < text.size() && text[at].isLetterOrNumber(); }

class Masking {
 public:
  explicit Masking(QStringView source) : m_text(source.toString().replace(kMark, QChar(QChar::ReplacementCharacter))), m_source(m_text) {}

  MaskedText run() {
    while (m_at < m_source.size()) step();
    return std::move(m_masked);
  }

 private:
  void step() {
    const QChar c = m_source[m_at];
    if (c == u'`') return passCode();
    if (c == u'\\') return passBackslash();
    if (c == u'$') return passDollar();
    copy(1);
  }

  void copy(qsizetype count) {
    m_masked.text += m_source.mid(m_at, count);
    m_at += count;
  }

  // Up to the run of as many.
  void passCode() {
    qsizetype run = m_at;
    while (run < m_source.size() && m_source[run] == u'`') ++run;
    const QString fence(run - m_at, u'`');
    qsizetype end = find(fence, run);
    while (end >= 0 && end + fence.size() < m_source.size() && m_source[end + fence.size()] == u'`') {
      while (end < m_source.size() && m_source[end] == u'`') ++end;
      end = find(fence, end);
    }
    copy(end < 0 ? run - m_at : end + fence.size() - m_at);
  }

  void passBackslash() {
    const QStringView rest = m_source.mid(m_at);
    if (rest.startsWith(u"\\(")) return passPair(QStringLiteral("\\)"));
    if (rest.startsWith(u"\\[")) return passPair(QStringLiteral("\\]"));
    if (rest.startsWith(u"\\begin{")) {
      const qsizetype close = rest.indexOf(u'}');
      if (close > 0 && close < 40) return passPair(QStringLiteral("\\end") + rest.mid(6, close - 5).toString());
    }
    if (rest.size() > 1 && QStringLiteral(",;:").contains(rest[1])) m_masked.text += u'\\';
    copy(std::min<qsizetype>(2, rest.size()));
  }

  // Its backslash stays even if nothing closes it yet.
  void passPair(const QString& closer) {
    const qsizetype end = find(closer, m_at + 2);
    if (end >= 0) return mask(end + closer.size());
    if (m_source[m_at + 1] != u'b') m_masked.text += u'\\';
    copy(2);
  }

  void passDollar() {
    if (m_source.mid(m_at).startsWith(u"$$")) {
      const qsizetype end = find(QStringLiteral("$$"), m_at + 2);
      return end > m_at + 2 ? mask(end + 2) : copy(2);
    }
    const qsizetype end = endInLine();
    end > 0 ? mask(end) : copy(1);
  }

  // Finds the end of $…$, as pandoc tells it from money: words before it, a space after its beginning, a space before its end or a number
  // behind that.
  qsizetype endInLine() const {
    const qsizetype first = m_at + 1;
    if (isWordCharacter(m_source, m_at - 1) || first >= m_source.size() || m_source[first].isSpace()) return -1;
    for (qsizetype i = first; i < std::min(m_source.size(), first + kLongestInLine); ++i) {
      const QChar c = m_source[i];
      if (c == u'`' || (c == u'\n' && i + 1 < m_source.size() && m_source[i + 1] == u'\n')) return -1;
      if (c == u'\\') {
        ++i;
      } else if (c == u'$') {
        const bool closes = i > first && !m_source[i - 1].isSpace() && !isWordCharacter(m_source, i + 1);
        return closes && !isMoney(m_source.mid(first, i - first)) ? i + 1 : -1;
      }
    }
    return -1;
  }

  // "$5, that is 5$": begins with a number and has none of a formula's signs.
  static bool isMoney(QStringView text) {
    return text.front().isDigit() && text.size() > 4 &&
           std::none_of(text.begin(), text.end(), [](QChar c) { return QStringLiteral("\\^_={}+-*/<>").contains(c); });
  }

  void mask(qsizetype end) {
    if (m_masked.formulas.size() == kMost) return copy(end - m_at);
    m_masked.text += kMark;
    m_masked.text += QChar(static_cast<char16_t>(kFirst + m_masked.formulas.size()));
    m_masked.formulas.push_back(m_source.mid(m_at, end - m_at).toString());
    m_at = end;
  }

  // Looks no second time for what is not behind an earlier place.
  qsizetype find(const QString& closer, qsizetype from) {
    if (const auto gone = m_gone.find(closer); gone != m_gone.end() && from >= gone->second) return -1;
    const qsizetype found = m_source.indexOf(closer, from);
    if (found < 0) m_gone[closer] = from;
    return found;
  }

  QString m_text;
  QStringView m_source;
  qsizetype m_at = 0;
  MaskedText m_masked;
  std::map<QString, qsizetype> m_gone;
};

}  // namespace

MaskedText maskFormulas(QStringView source) { return Masking(source).run(); }

std::vector<UnmaskedPart> unmask(QStringView text, const std::vector<QString>& formulas) {
  std::vector<UnmaskedPart> parts;
  qsizetype from = 0;
  for (qsizetype at = text.indexOf(kMark); at >= 0; at = text.indexOf(kMark, from)) {
    if (at > from) parts.push_back({text.mid(from, at - from).toString(), false});
    const auto number = at + 1 < text.size() ? static_cast<std::size_t>(text[at + 1].unicode() - kFirst) : formulas.size();
    if (number < formulas.size()) parts.push_back({formulas[number], true});
    from = std::min(text.size(), at + 2);
  }
  if (from < text.size()) parts.push_back({text.mid(from).toString(), false});
  return parts;
}

void splitAtFormulas(Block block, std::vector<Block>& blocks) {
  const auto isApart = [](const TextRun& run) { return run.formula && isDisplayFormula(run.text); };
  if (block.kind != BlockKind::kParagraph || std::none_of(block.runs.begin(), block.runs.end(), isApart))
    return blocks.push_back(std::move(block));
  std::vector<TextRun> runs = std::exchange(block.runs, {});
  const auto finish = [&] {  // without spaces and line ends beside a formula
    if (!block.runs.empty()) {
      QString &first = block.runs.front().text, &last = block.runs.back().text;
      first.remove(0, std::find_if_not(first.begin(), first.end(), [](QChar c) { return c.isSpace(); }) - first.begin());
      while (!last.isEmpty() && last.back().isSpace()) last.chop(1);
      if (block.runs.size() > 1 || !last.isEmpty()) blocks.push_back(block);
      block.marker.clear();
      block.runs.clear();
    }
  };
  for (TextRun& run : runs) {
    const bool alone = isApart(run) && (block.marker.isEmpty() || !block.runs.empty());  // a marker needs something beside it
    if (alone) finish();
    block.runs.push_back(std::move(run));
    if (!alone) continue;
    block.kind = BlockKind::kFormula;
    blocks.push_back(block);
    block.kind = BlockKind::kParagraph;
    block.runs.clear();
  }
  finish();
}

}  // namespace winnow::ui
