#include "ui/chat_view/markdown_splitter.h"

#include <algorithm>

namespace winnow::ui {
namespace {

struct Line {
  qsizetype start = 0;
  qsizetype end = 0;   // without the line break
  qsizetype next = 0;  // start of the following line
  bool complete = false;
};

Line lineAt(const QString& text, qsizetype start) {
  const qsizetype lineBreak = text.indexOf(QLatin1Char('\n'), start);
  if (lineBreak < 0) return {start, text.size(), text.size(), false};
  return {start, lineBreak, lineBreak + 1, true};
}

bool isBlank(QStringView line) {
  return std::all_of(line.begin(), line.end(),
                     [](QChar c) { return c == QLatin1Char(' ') || c == QLatin1Char('\t') || c == QLatin1Char('\r'); });
}

struct Fence {
  QChar mark;
  int count = 0;  // 0: no fence
  int indent = 0;
  QString info;
};

Fence fenceOf(QStringView line, int maxIndent) {
  Fence fence;
  qsizetype i = 0;
  while (i < line.size() && line[i] == QLatin1Char(' ')) ++i;
  if (i > maxIndent || i >= line.size()) return fence;
  fence.indent = static_cast<int>(i);
  fence.mark = line[i];
  if (fence.mark != QLatin1Char('`') && fence.mark != QLatin1Char('~')) return fence;
  qsizetype run = i;
  while (run < line.size() && line[run] == fence.mark) ++run;
  const QStringView info = line.mid(run).trimmed();
  if (run - i < 3 || (fence.mark == QLatin1Char('`') && info.contains(QLatin1Char('`')))) return fence;
  fence.count = static_cast<int>(run - i);
  fence.info = info.toString();
  return fence;
}

bool closes(const Fence& open, QStringView line, int maxIndent) {
  const Fence fence = fenceOf(line, maxIndent);
  return fence.count >= open.count && fence.mark == open.mark && fence.info.isEmpty();
}

bool isListStart(QStringView line) {
  const QStringView trimmed = line.trimmed();
  if (trimmed.isEmpty()) return false;
  if (QStringLiteral("-*+").contains(trimmed[0])) return trimmed.size() > 1 && trimmed[1] == QLatin1Char(' ');
  qsizetype digits = 0;
  while (digits < trimmed.size() && digits < 9 && trimmed[digits].isDigit()) ++digits;
  return digits > 0 && digits + 1 < trimmed.size() && (trimmed[digits] == QLatin1Char('.') || trimmed[digits] == QLatin1Char(')')) &&
         trimmed[digits + 1] == QLatin1Char(' ');
}

// The place to cut [start, start + limit): after the last line break, else after the last space, else anywhere but inside a surrogate pair.
qsizetype cutPosition(const QString& text, qsizetype start, qsizetype limit) {
  const qsizetype end = start + limit;
  const qsizetype lineBreak = text.lastIndexOf(QLatin1Char('\n'), end - 1);
  if (lineBreak > start) return lineBreak + 1;
  const qsizetype space = text.lastIndexOf(QLatin1Char(' '), end - 1);
  if (space > start + limit / 2) return space + 1;
  return text[end - 1].isHighSurrogate() ? end - 1 : end;
}

}  // namespace

void MarkdownSplitter::clear() {
  m_text.clear();
  m_blocks.clear();
}

QStringView MarkdownSplitter::source(const SourceBlock& block) const { return QStringView(m_text).mid(block.start, block.length); }

QString MarkdownSplitter::code(const SourceBlock& block) const { return m_text.mid(block.codeStart, block.codeLength); }

std::size_t MarkdownSplitter::append(QStringView delta) {
  const qsizetype lastLine = m_text.lastIndexOf(QLatin1Char('\n')) + 1;
  m_text.append(delta);
  if (m_blocks.empty()) {
    scanFrom(0);
    return 0;
  }
  qsizetype start = m_blocks.back().start;
  m_blocks.pop_back();
  // That a block begins at the unfinished line was a guess from its first characters: it may yet belong to the block before.
  if (start == lastLine && !m_blocks.empty()) {
    start = m_blocks.back().start;
    m_blocks.pop_back();
  }
  const std::size_t first = m_blocks.size();
  scanFrom(start);
  return first;
}

void MarkdownSplitter::scanFrom(qsizetype start) {
  while (start < m_text.size()) {
    SourceBlock block{.start = start};
    // A code block that was cut goes on as code until its closing fence.
    const bool carriesCode = !m_blocks.empty() && m_blocks.back().code && m_blocks.back().codeStart + m_blocks.back().codeLength == start;
    const bool carriesText = !m_blocks.empty() && !m_blocks.back().code && m_blocks.back().start + m_blocks.back().length == start &&
                             m_blocks.back().length >= kMaxBlockCharacters / 2 && start > 0 && m_text[start - 1] != QLatin1Char('\n');
    qsizetype next = 0;
    if (carriesCode) {
      block.code = true;
      block.continues = true;
      block.language = m_blocks.back().language;
      next = scanCode(start, block);
    } else {
      block.continues = carriesText;
      next = scanBlock(start, block);
    }
    block.length = next - start;
    m_blocks.push_back(block);
    start = next;
  }
}

// Reads code lines from contentStart up to the closing fence, the length limit or the end of the text.
qsizetype MarkdownSplitter::scanCode(qsizetype contentStart, SourceBlock& block) const {
  // The fence that opened the listing is on the line before the first part.
  qsizetype fenceLine = contentStart;
  if (block.continues) {
    for (auto it = m_blocks.rbegin(); it != m_blocks.rend(); ++it) {
      if (it->code && !it->continues) {
        fenceLine = it->start;
        break;
      }
    }
  } else {
    fenceLine = block.start;
  }
  const Line opening = lineAt(m_text, fenceLine);
  const Fence fence = fenceOf(QStringView(m_text).mid(opening.start, opening.end - opening.start), 3);
  block.codeStart = contentStart;
  qsizetype at = contentStart;
  while (at < m_text.size()) {
    const Line line = lineAt(m_text, at);
    if (line.next - contentStart > kMaxBlockCharacters) {
      const qsizetype cut = cutPosition(m_text, contentStart, kMaxBlockCharacters);
      block.codeLength = cut - contentStart;
      return cut;
    }
    if (closes(fence, QStringView(m_text).mid(line.start, line.end - line.start), 3)) {
      block.codeLength = at - contentStart;
      return line.next;
    }
    at = line.next;
  }
  block.codeLength = m_text.size() - contentStart;
  return m_text.size();
}

qsizetype MarkdownSplitter::scanBlock(qsizetype start, SourceBlock& block) const {
  qsizetype at = start;
  bool any = false;   // a line that is not blank was seen
  bool list = false;  // the block began as a list: indented lines after a blank one still belong to it
  bool afterBlank = false;
  Fence inner;  // a fence inside a list item
  while (at < m_text.size()) {
    const Line line = lineAt(m_text, at);
    const QStringView content = QStringView(m_text).mid(line.start, line.end - line.start);
    if (inner.count > 0) {
      if (closes(inner, content, 64)) inner.count = 0;
    } else if (isBlank(content)) {
      afterBlank = any;
    } else {
      const bool indented = content[0] == QLatin1Char(' ') || content[0] == QLatin1Char('\t');
      if (afterBlank && !(list && indented)) return at;
      const Fence fence = fenceOf(content, list ? 64 : 3);
      if (fence.count > 0 && (!list || fence.indent == 0)) {
        if (any) return at;
        block.code = true;
        block.language = fence.info.section(QLatin1Char(' '), 0, 0).left(40);
        if (!line.complete) {
          block.codeStart = m_text.size();
          return m_text.size();
        }
        block.start = at;
        const qsizetype next = scanCode(line.next, block);
        block.start = start;
        return next;
      }
      if (fence.count > 0) inner = fence;
      if (!any) list = isListStart(content) && !indented;
      any = true;
      afterBlank = false;
    }
    if (line.next - start > kMaxBlockCharacters) return cutPosition(m_text, start, kMaxBlockCharacters);
    at = line.next;
  }
  return m_text.size();
}

}  // namespace winnow::ui
