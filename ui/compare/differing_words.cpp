#include "ui/compare/differing_words.h"

#include <QCoreApplication>
#include <algorithm>
#include <cstdint>

#include "app/words/display_text.h"
#include "ui/chat_view/agreement_marks.h"

namespace winnow::ui {
namespace {

constexpr qsizetype kLongestNote = 90;

class DifferenceWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::DifferenceWords)
};

std::vector<WordRange> finishedWords(const WrittenText& written) {
  std::vector<WordRange> words = wordsOf(written.text);
  if (!written.complete && !words.empty()) words.pop_back();
  return words;
}

QStringView word(const QString& text, const WordRange& range) { return QStringView(text).mid(range.from, range.length); }

// For each word of the first text its partner in the second, or -1: a longest common sequence.
std::vector<int> partners(const QString& first, const std::vector<WordRange>& a, const QString& second, const std::vector<WordRange>& b) {
  std::vector<int> partner(a.size(), -1);
  std::size_t begin = 0, endA = a.size(), endB = b.size();
  const auto same = [&](std::size_t i, std::size_t j) { return word(first, a[i]) == word(second, b[j]); };
  while (begin < endA && begin < endB && same(begin, begin)) {
    partner[begin] = static_cast<int>(begin);
    ++begin;
  }
  while (endA > begin && endB > begin && same(endA - 1, endB - 1)) partner[--endA] = static_cast<int>(--endB);
  const std::size_t n = endA - begin, m = endB - begin;
  if (n == 0 || m == 0 || n * m > kMostCells) return partner;
  std::vector<std::uint16_t> best((n + 1) * (m + 1), 0);  // length of the longest sequence of what follows
  const auto at = [&](std::size_t i, std::size_t j) -> std::uint16_t& { return best[i * (m + 1) + j]; };
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = m; j-- > 0;) {
      at(i, j) = same(begin + i, begin + j) ? static_cast<std::uint16_t>(at(i + 1, j + 1) + 1) : std::max(at(i + 1, j), at(i, j + 1));
    }
  }
  for (std::size_t i = 0, j = 0; i < n && j < m;) {
    if (same(begin + i, begin + j)) {
      partner[begin + i] = static_cast<int>(begin + j);
      ++i;
      ++j;
    } else {
      at(i + 1, j) >= at(i, j + 1) ? ++i : ++j;
    }
  }
  return partner;
}

QString noteOf(const QString& name, const QString& text, const std::vector<WordRange>& words, int from, int to) {
  if (from >= to) return DifferenceWords::tr("%1 has nothing here.").arg(name);
  const WordRange &first = words[static_cast<std::size_t>(from)], &last = words[static_cast<std::size_t>(to - 1)];
  QString other = app::displayText(QStringView(text).mid(first.from, last.from + last.length - first.from)).simplified();
  if (other.size() > kLongestNote) other = other.left(kLongestNote) + QChar(0x2026);
  return DifferenceWords::tr("%1 has “%2” here.").arg(name, other);
}

}  // namespace

std::vector<TextMark> differingWords(const WrittenText& answer, const WrittenText& reference, const QString& referenceName) {
  std::vector<WordRange> words = finishedWords(answer);
  const std::vector<WordRange> others = finishedWords(reference);
  if (!reference.complete && words.size() > others.size()) words.resize(others.size());
  std::vector<TextMark> marks;
  if (words.empty()) return marks;
  const std::vector<int> partner = partners(answer.text, words, reference.text, others);
  std::size_t parting = 0;
  while (parting < words.size() && partner[parting] == static_cast<int>(parting)) ++parting;
  const bool endsEarly = answer.complete && reference.complete && parting == words.size() && others.size() > words.size();
  if (endsEarly) --parting;
  int before = -1;  // partner of the last word that has one
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (partner[i] >= 0 && i != parting) {
      before = partner[i];
      continue;
    }
    const TextMark::Kind kind = i == parting ? TextMark::Kind::kFirst : TextMark::Kind::kDiffers;
    // The other's words up to the next one that both have.
    std::size_t next = i + (partner[i] >= 0 ? 0 : 1);
    while (next < words.size() && partner[next] < 0) ++next;
    const int until = next < words.size() ? partner[next] : static_cast<int>(others.size());
    const int from = endsEarly && i == parting ? partner[i] + 1 : before + 1;
    const int to = endsEarly && i == parting ? static_cast<int>(others.size()) : until;
    const bool known = reference.complete || next < words.size();
    marks.push_back({words[i].from, words[i].length, kind, known ? noteOf(referenceName, reference.text, others, from, to) : QString()});
    if (partner[i] >= 0) before = partner[i];
  }
  return marks;
}

}  // namespace winnow::ui
