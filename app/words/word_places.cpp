#include "app/words/word_places.h"

namespace winnow::app {

std::vector<std::pair<int, int>> placesOfWords(QString text, const QString& words) {
  std::vector<std::pair<int, int>> places;
  const qsizetype size = words.size();
  if (size == 0) return places;
  for (QChar& c : text) {
    if (c.isSpace()) c = QLatin1Char(' ');
  }
  for (qsizetype at = text.indexOf(words, 0, Qt::CaseInsensitive); at >= 0; at = text.indexOf(words, at + size, Qt::CaseInsensitive))
    places.emplace_back(static_cast<int>(at), static_cast<int>(at + size));
  return places;
}

}  // namespace winnow::app
