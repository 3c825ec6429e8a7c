#include "app/chats/chat/file_lines.h"

#include <algorithm>

namespace winnow::app {
namespace {

constexpr qsizetype kMostPassageCharacters = 1200;

}  // namespace

QList<FileLine> fileLines(const std::vector<TimedLine>& lines, LineKind kind) {
  QList<FileLine> all;
  for (const TimedLine& line : lines) all.append({kind, line.start_s, line.end_s, 0, 0, QString::fromStdString(line.text)});
  return all;
}

std::vector<TimedLine> timedLines(const QList<FileLine>& lines) {
  std::vector<TimedLine> timed;
  for (const FileLine& line : lines) {
    if (line.startS >= 0) timed.push_back({line.startS, std::max(line.startS, line.endS), line.text.simplified().toStdString()});
  }
  return timed;
}

QList<FileLine> passagesOf(std::string_view text, const std::vector<std::int32_t>& pageLines) {
  QList<FileLine> passages;
  FileLine passage{LineKind::kPassage};
  const auto end = [&] {
    if (!passage.text.isEmpty()) passages.append(passage);
    passage.text.clear();
  };
  std::size_t page = 0;
  for (int line = 0; !text.empty(); ++line) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    const QString words = QString::fromUtf8(text.data(), static_cast<qsizetype>(length)).simplified();
    text.remove_prefix(std::min(length + 1, text.size()));
    const bool turns = page < pageLines.size() && pageLines[page] <= line;
    while (page < pageLines.size() && pageLines[page] <= line) ++page;
    if (turns || words.isEmpty() || passage.text.size() + words.size() > kMostPassageCharacters) end();
    if (words.isEmpty()) continue;
    if (passage.text.isEmpty()) {
      passage.line = line;
      passage.page = static_cast<int>(page);
    }
    passage.text += (passage.text.isEmpty() ? QString() : QStringLiteral(" ")) + words;
  }
  end();
  return passages;
}

}  // namespace winnow::app
