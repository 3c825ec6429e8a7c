#include "app/media/papers/marked_text.h"

#include <algorithm>

#include "app/media/files/document_text.h"

namespace winnow::app {
namespace {

constexpr int kLevels = 6;

}  // namespace

void MarkedText::begin(Mark mark, int level) {
  switch (mark) {
    case Mark::kBlock:
    case Mark::kKeep:
      endLine();
      m_kept += mark == Mark::kKeep ? 1 : 0;
      break;
    case Mark::kHeading:
      endLine();
      if (m_rows == 0) m_prefix = QString(std::clamp(level, 1, kLevels), u'#') + u' ';
      break;
    case Mark::kItem:
      endLine();
      if (m_rows == 0) m_prefix = QStringLiteral("- ");
      break;
    case Mark::kRow:
      endLine();
      ++m_rows;
      break;
    case Mark::kCell:
      if (m_rows == 1 && m_cells++ > 0) {
        while (!m_line.isEmpty() && m_line.back().isSpace()) m_line.chop(1);  // in place: rows may be as long as a document
        m_line += QStringLiteral(" | ");
      }
      break;
    case Mark::kBreak: endLine(); break;
    case Mark::kSpace: m_line += u' '; break;
    case Mark::kNone:
    case Mark::kSkip: break;
  }
}

void MarkedText::end(Mark mark) {
  if (mark == Mark::kBlock || mark == Mark::kHeading || mark == Mark::kItem || mark == Mark::kKeep) {
    endLine();
    m_prefix.clear();
  }
  if (mark == Mark::kKeep) m_kept = std::max(0, m_kept - 1);
  if (mark == Mark::kCell) m_line += u' ';
  if (mark != Mark::kRow || m_rows == 0) return;
  if (--m_rows == 0) {
    m_cells = 0;
    endLine();
  }
}

void MarkedText::addWords(QStringView words) {
  for (const QChar c : words) {
    if (m_kept > 0 && m_rows == 0 && c == u'\n') {
      m_text += m_line + u'\n';
      m_line.clear();
    } else if (m_kept > 0 && c == u'\r') {
      continue;
    } else if (!c.isSpace() || m_kept > 0) {
      m_line += c;
    } else if (!m_line.isEmpty() && !m_line.back().isSpace()) {
      m_line += u' ';
    }
  }
}

// Within a table's cell a space.
void MarkedText::endLine() {
  if (m_rows > 0) {
    if (!m_line.isEmpty() && !m_line.back().isSpace()) m_line += u' ';
    return;
  }
  const QString line = m_kept > 0 ? m_line : m_line.trimmed();
  m_line.clear();
  if (line.isEmpty()) return;
  // UTF-8 has at most three bytes for each of UTF-16's units.
  if (3 * static_cast<std::int64_t>(m_text.size() + line.size()) > kDocumentBytes) {
    m_left_out = true;
  } else {
    m_text += m_prefix + line + u'\n';
  }
  m_prefix.clear();
}

bool MarkedText::isFull() const { return m_left_out; }

}  // namespace winnow::app
