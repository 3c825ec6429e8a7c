#include "ui/composer/description_words.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace winnow::ui {
namespace {

constexpr std::string_view kEnds = ".!?\n,;:";

bool endsPart(const std::string& bytes) { return bytes.find_first_of(kEnds) != std::string::npos; }

DescribedSentence sentenceOf(const std::vector<DescribedWord>& words) {
  std::string bytes;
  std::map<std::pair<int, int>, int> shown;
  for (const DescribedWord& word : words) {
    bytes += word.bytes;
    if (word.media >= 0 && !endsPart(word.bytes)) ++shown[{word.media, word.frame}];
  }
  DescribedSentence sentence;
  sentence.text = QString::fromStdString(bytes).trimmed();
  const auto most = std::max_element(shown.begin(), shown.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most != shown.end()) std::tie(sentence.media, sentence.frame) = most->first;
  return sentence;
}

}  // namespace

QList<DescribedSentence> sentencesOf(const Description& description) {
  QList<DescribedSentence> sentences;
  std::vector<DescribedWord> words;
  const auto take = [&] {
    DescribedSentence sentence = sentenceOf(std::exchange(words, {}));
    if (!sentence.text.isEmpty()) sentences.append(std::move(sentence));
  };
  for (const DescribedWord& word : description.words) {
    words.push_back(word);
    if (endsPart(word.bytes)) take();
  }
  take();
  return sentences;
}

}  // namespace winnow::ui
