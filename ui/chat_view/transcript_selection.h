// The selected part of a transcript's text: from one place to another, across rows and messages.
//
// Used by transcript_view.h, which feeds it the pointer, and by its painter. UI thread only.
#pragma once

#include <QString>
#include <optional>
#include <utility>

#include "ui/chat_view/transcript_hits.h"

namespace winnow::ui {

class TranscriptSelection {
 public:
  void clear();
  void begin(const std::optional<TextPosition>& at);  // none: clears
  void extend(const std::optional<TextPosition>& to);
  void selectWord(const TranscriptLayout& layout, const TextPosition& at);
  void selectAll(const TranscriptLayout& layout);

  bool isEmpty() const { return !m_anchor || *m_anchor == *m_end; }
  bool begun() const { return m_anchor.has_value(); }
  // The selected part of a row with `length` characters: [from, to); nothing selected there: from == to.
  std::pair<int, int> within(int message, int row, int length) const;
  // The text in reading order, with a blank line between messages. Rows that were never laid out are read too.
  QString text(const TranscriptLayout& layout) const;

 private:
  std::pair<TextPosition, TextPosition> ordered() const { return std::minmax(*m_anchor, *m_end); }

  std::optional<TextPosition> m_anchor, m_end;  // both or none
};

}  // namespace winnow::ui
