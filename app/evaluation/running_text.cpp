#include "app/evaluation/running_text.h"

#include <QCryptographicHash>
#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

#include "engine/base/error.h"

namespace winnow::app {
namespace {

constexpr std::size_t kFewestWords = 20;  // of a paragraph: headings and addresses are shorter
constexpr double kLowerCaseShare = 0.85;  // of its letters
constexpr std::size_t kFewestInside = 5;  // words of a sentence: after "U.S." none ends

bool isLower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }
bool isUpper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

// Lines of text by paragraph, joined by single blanks.
std::vector<std::string> joinedParagraphs(const std::string& text) {
  std::vector<std::string> paragraphs(1);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    bool empty = true;
    for (std::string word; words >> word; empty = false) {
      std::string& paragraph = paragraphs.back();
      paragraph.append(paragraph.empty() ? "" : " ").append(word);
    }
    if (empty && !paragraphs.back().empty()) paragraphs.emplace_back();
  }
  return paragraphs;
}

bool isRunningText(const std::string& paragraph) {
  if (wordsIn(paragraph) < kFewestWords || paragraph.back() != '.') return false;
  const auto lower = std::count_if(paragraph.begin(), paragraph.end(), isLower);
  const auto upper = std::count_if(paragraph.begin(), paragraph.end(), isUpper);
  return static_cast<double>(lower) >= kLowerCaseShare * static_cast<double>(lower + upper);
}

Sentences sentencesOf(const std::string& paragraph) {
  Sentences sentences(1);
  std::istringstream words(paragraph);
  std::size_t inside = 0;
  bool ended = false;
  for (std::string word; words >> word;) {
    if (ended && isUpper(word.front())) {
      sentences.emplace_back();
      inside = 0;
    }
    sentences.back().append(sentences.back().empty() ? "" : " ").append(word);
    ended = ++inside >= kFewestInside && word.size() > 2 && word.back() == '.' && isLower(word[word.size() - 2]);
  }
  return sentences;
}

}  // namespace

std::string joinedText(const std::vector<Sentences>& paragraphs) {
  std::string text;
  for (const Sentences& paragraph : paragraphs) {
    if (!text.empty()) text += "\n\n";
    for (std::size_t s = 0; s < paragraph.size(); ++s) text.append(s == 0 ? "" : " ").append(paragraph[s]);
  }
  return text + "\n";
}

std::size_t wordsIn(const std::string& text) {
  std::istringstream words(text);
  std::size_t count = 0;
  for (std::string word; words >> word;) ++count;
  return count;
}

RunningText::RunningText(const std::vector<std::string>& texts) {
  std::set<std::string> seen;
  for (const std::string& text : texts) {
    for (const std::string& paragraph : joinedParagraphs(text)) {
      if (!isRunningText(paragraph) || !seen.insert(paragraph).second) continue;
      m_words += wordsIn(paragraph);
      m_paragraphs.push_back(sentencesOf(paragraph));
    }
  }
}

std::string RunningText::fingerprint() const {
  QCryptographicHash hash(QCryptographicHash::Sha256);
  for (const Sentences& paragraph : m_paragraphs) {
    for (const std::string& sentence : paragraph) hash.addData(QByteArray::fromStdString(sentence + "\n"));
    hash.addData(QByteArrayLiteral("\n"));
  }
  return hash.result().toHex().toStdString();
}

std::vector<Sentences> RunningText::part(std::size_t first, std::size_t words) const {
  require(words <= m_words && first < m_paragraphs.size(), "part of a running text: more than there is");
  std::vector<Sentences> taken;
  for (std::size_t at = first, count = 0; count < words; at = (at + 1) % m_paragraphs.size()) {
    taken.emplace_back();
    for (const std::string& sentence : m_paragraphs[at]) {
      taken.back().push_back(sentence);
      count += wordsIn(sentence);
      if (count >= words) break;
    }
  }
  return taken;
}

}  // namespace winnow::app
