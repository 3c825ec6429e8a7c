#include "ui/kept_map/token_search.h"

#include <algorithm>

#include "app/words/word_places.h"

namespace winnow::ui {

std::vector<TokenRange> findWords(const std::vector<QString>& texts, const QString& words) {
  const QString wanted = words.simplified();
  std::vector<TokenRange> found;
  if (wanted.isEmpty()) return found;
  QString all;
  std::vector<int> tokenAt;  // of each character
  for (std::size_t token = 0; token < texts.size(); ++token) {
    all += texts[token];
    tokenAt.resize(static_cast<std::size_t>(all.size()), static_cast<int>(token));
  }
  for (const auto& [from, to] : app::placesOfWords(all, wanted))
    found.push_back({tokenAt[static_cast<std::size_t>(from)], tokenAt[static_cast<std::size_t>(to - 1)]});
  return found;
}

std::vector<TokenRange> findLine(const std::vector<TokenOrigin>& origins, int line) {
  const auto reaches = [line](const TokenOrigin& origin) { return origin.frame >= line; };
  const auto first = std::find_if(origins.begin(), origins.end(), reaches);
  if (first == origins.end() || line < 0) return {};
  const auto end = std::find_if(first, origins.end(), [first](const TokenOrigin& origin) { return origin.frame != first->frame; });
  return {{static_cast<int>(first - origins.begin()), static_cast<int>(end - origins.begin()) - 1}};
}

int askedLine(const QString& text) {
  const QString asked = text.trimmed();
  bool number = false;
  const int line = asked.startsWith(QLatin1Char(':')) ? asked.mid(1).toInt(&number) : 0;
  return number && line > 0 ? line - 1 : -1;
}

}  // namespace winnow::ui
